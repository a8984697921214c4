import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Paths that each module names, all from the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Imports and exports of types only: the compiler checks them, and they do not run. */
const OF_TYPES =
  /^(?:im|ex)port (?:type [^;"]*|\{\s*type [\w$]+(?: as [\w$]+)?(?:,\s*type [\w$]+(?: as [\w$]+)?)*,?\s*\}) ?from "[^"]*";/gm;

/** An import, the program of a thread, or a file or folder that is read: each is named by a path in quotes, from the module or from the root. */
const NAMED = /"((?:#|\.{1,2}\/|(?:bin|dashboard|docs|src|test|tools)\/)[^"\s]+)"/g;

/** The files and folders that the module's text names, whether they exist or not. `path` is the module's own, from the root. */
export function namedFiles(path: string, text: string): readonly string[] {
  const names = Array.from(text.replaceAll(OF_TYPES, "").matchAll(NAMED), ([, name = ""]) => fileOf(path, name));
  return [...new Set(names)];
}

function fileOf(path: string, name: string): string {
  if (name === "#package.json") return "package.json";
  if (name.startsWith("#")) return `src/${name.slice(1)}`;
  return posix.join(name.startsWith(".") ? posix.dirname(path) : ".", name).replace(/\/$/, "");
}

/** Reads all modules below the root except those of the dashboard, which has no such tests. */
export function readImportGraph(root: string): ImportGraph {
  const modules = globSync("{bin,src,test,tools}/**/*.{ts,js}", { cwd: root });
  return new Map(modules.map((path) => [path, namedFiles(path, readFileSync(join(root, path), "utf8"))]));
}

/** Distance of each module in imports from the nearest of the files; modules that do not reach one are omitted. */
export function distancesTo(files: Iterable<string>, graph: ImportGraph): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const [module, targets] of graph)
    for (const target of targets) {
      const known = importers.get(target);
      if (known) known.push(module);
      else importers.set(target, [module]);
    }
  const distances = new Map<string, number>(Array.from(files, (file) => [file, 0]));
  // A map yields entries that are added while it is read, so the nearest come first.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? []) if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
