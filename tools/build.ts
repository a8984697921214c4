import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Plugin } from "esbuild";
import { type Built, contentHash, isCurrent, stampOf } from "../bin/built-program.js";

/**
 * Makes `dist/` from `src/`, unless it is current: JavaScript with source maps (docs/adr/0090). Packages stay in node_modules,
 * but for those of several hundred modules (docs/adr/0273).
 * With `--if-possible` an installation without esbuild is not a failure (`npm ci --omit=dev`).
 */

const root = dirname(import.meta.dirname);
const MAIN = "src/app/cli/main.ts";
/** The same command line as a program for `selvedge start` (docs/adr/0363). */
const SERVER = "src/app/cli/server.ts";
/** Loaded first, wherever a file of the build is. */
const SOURCE_LINES = "src/kernel/process/source-lines.ts";
/**
 * Packages that become part of the build: a start would load 790 small modules of them. Each has an exact version in
 * package.json and no dependencies, so npm reports and updates what was built.
 */
const BUILT_PACKAGES = ["kysely", "typebox"] as const;
/** Inputs of the build besides the sources. */
const OTHER_INPUTS = ["package.json", "tools/build.ts", ...BUILT_PACKAGES.map((name) => `node_modules/${name}/package.json`)] as const;
/**
 * The targets of import names within the build, which has its own `package.json` for them: thread programs keep the
 * names of their sources.
 */
const IMPORTS = { "#source-lines": "./kernel/process/source-lines.js", "#package.json": "./package.json", "#*.ts": "./*.js" } as const;
/** Each module that imports it would look it up, so only the first file of a program does. */
const FIRST_LINE = 'import "#source-lines";';
const REPLACE_ATTEMPTS = 10;

/** Threads of every start and of the first zone. The others and the commands share chunks, which saves 4 MB. */
const EARLY_THREADS = /^src\/(?:(?:edge|nameserver)\/worker|events\/write\/writer|app\/threads\/prestarted-thread)\.ts$/;
const RESOLVED = "resolved";

/** Leaves packages in node_modules, except those that are built. Of these, modules without a used export are left out. */
const packages: Plugin = {
  name: "packages",
  setup: (build) =>
    build.onResolve({ filter: /^/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (kind === "entry-point" || pluginData === RESOLVED) return undefined;
      const isOurs = /^[.#/]/.test(path);
      const isBuilt = BUILT_PACKAGES.some(
        (name) => path === name || path.startsWith(`${name}/`) || importer.includes(`/node_modules/${name}/`),
      );
      if (!isBuilt) return isOurs ? undefined : { path, external: true };
      const found = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVED });
      return { ...found, sideEffects: false };
    }),
};

/** The program of the server leaves out the other commands, and theirs leaves out `start`. */
const commands = (isServer: boolean): Plugin => ({
  name: "commands",
  setup: (build) =>
    build.onResolve({ filter: /^\.\// }, ({ path, kind, importer }) =>
      kind === "dynamic-import" && /\/src\/app\/cli\/(?:.+-commands|main)\.ts$/.test(importer) && (path === "./start.ts") !== isServer
        ? { path, external: true }
        : undefined,
    ),
});

if (!isCurrent(root)) {
  const esbuild = await import("esbuild").catch(() => undefined);
  if (esbuild !== undefined) await build(esbuild);
  else {
    console.error("selvedge: nothing was built, because esbuild is not installed: `npm ci` without --omit=dev installs it");
    process.exitCode = process.argv.includes("--if-possible") ? 0 : 1;
  }
}

async function build(esbuild: typeof import("esbuild")): Promise<void> {
  const sources = listSources();
  // Computed before esbuild reads the files, so that a change in between makes the build stale.
  const before = Object.fromEntries([...sources, ...OTHER_INPUTS].map((file) => [file, versionOf(file)]));
  const directory = join(root, `.dist-${process.pid}`);
  try {
    const threads = [...new Set(sources.flatMap(threadsOf))];
    const early = threads.filter((program) => EARLY_THREADS.test(program));
    const others = threads.filter((program) => !EARLY_THREADS.test(program));
    const read: string[] = [];
    // One after the other, so that the first error ends the build and is printed once.
    for (const programs of [[SERVER], [MAIN, SOURCE_LINES, ...others], ...early.map((program) => [program])])
      read.push(...(await buildPrograms(esbuild, programs, directory)));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module", version, imports: IMPORTS }));
    writeFileSync(join(directory, "LICENSES.txt"), licenses());
    const ours = [...new Set(read)].filter((file) => file in before);
    const inputs = [...ours, ...OTHER_INPUTS].toSorted();
    const built: Built = Object.fromEntries(inputs.map((file) => [file, before[file] ?? ["", ""]]));
    writeFileSync(join(directory, "built.json"), JSON.stringify(built));
    // Another process may have built the same meanwhile and may already run it.
    if (!isCurrent(root)) replace(join(root, "dist"), directory);
  } catch (error) {
    process.exitCode = 1;
    // esbuild has printed the errors in the sources.
    if (!(error instanceof Error && "errors" in error)) console.error(error);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Builds programs that share their chunks and returns their inputs. Programs of a start share none, because esbuild makes a chunk for each
 * set of programs and dynamic imports that share a module, and a server then loads hundreds of tiny files.
 */
async function buildPrograms(
  esbuild: typeof import("esbuild"),
  programs: readonly string[],
  directory: string,
): Promise<readonly string[]> {
  const { metafile, outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: programs.map((program) => ({ in: program === SERVER ? MAIN : program, out: outputOf(program) })),
    outdir: directory,
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    plugins: [commands(programs.includes(SERVER)), packages],
    minifyWhitespace: true,
    platform: "node",
    format: "esm",
    target: "node24",
    sourcemap: "linked",
    sourcesContent: false,
    banner: { js: FIRST_LINE },
    metafile: true,
    logLevel: "warning",
    write: false,
  });
  const entries = new Set(programs.map((program) => join(directory, `${outputOf(program)}.js`)));
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    // An empty line instead keeps the map right.
    writeFileSync(path, entries.has(path) ? text : text.replace(FIRST_LINE, ""));
  }
  return Object.keys(metafile.inputs);
}

function outputOf(program: string): string {
  return relative("src", program).replace(/\.ts$/, "");
}

/** The licenses of the built packages, each of which must accompany a copy. */
function licenses(): string {
  return BUILT_PACKAGES.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    const text = readdirSync(folder).find((file) => /^licen[cs]e(?:\.\w+)?$/i.test(file));
    if (text === undefined) throw new Error(`the package ${name} has no license file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, text), "utf8").trim()}\n`;
  }).join("\n\n");
}

function versionOf(file: string): Built[string] {
  const path = join(root, file);
  return [stampOf(path) ?? "", contentHash(path)];
}

function listSources(): readonly string[] {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((path) => !path.includes("/testing/"));
}

/** The programs of threads that a source starts. */
function threadsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/import\.meta\.resolve\("#([^"]+\.ts)"\)/g)].map(([, path]) => `src/${path}`);
}

/** Another build may replace it concurrently; only complete builds replace each other. */
function replace(target: string, by: string): void {
  const old = `${by}-old`;
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(old, { recursive: true, force: true });
      moveAway(target, old);
      renameSync(by, target);
      break;
    } catch (error) {
      if (attempt === REPLACE_ATTEMPTS) throw error;
    }
  }
  rmSync(old, { recursive: true, force: true });
}

function moveAway(path: string, to: string): void {
  try {
    renameSync(path, to);
  } catch (error) {
    // The first build.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
