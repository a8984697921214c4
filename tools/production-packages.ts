import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./steps.ts";

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Paths below the root, such as `node_modules/pg`, of the packages of an installation without development packages, by
 * the lock file. Optional ones that are not installed here, such as those of other processors, are left out.
 */
export function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = new Set<string>();
  const waiting: string[] = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const at = placeOf(name, path, packages);
      if (at === undefined || found.has(at) || !existsSync(join(ROOT, at))) continue;
      found.add(at);
      waiting.push(at);
    }
  }
  return [...found].toSorted();
}

/** Searched like Node.js does: in the package's own folder, and in those above. */
function placeOf(name: string, from: string, packages: Readonly<Record<string, LockedPackage>>): string | undefined {
  for (let folder = from; ;) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === "") return undefined;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")));
  }
}
