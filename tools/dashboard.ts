import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Builds `dashboard/dist/` from its sources, unless it is current; with `--check` it only reports whether it is. The
 * built files are committed, so that a server needs no build tool (docs/adr/0135).
 */

const root = dirname(import.meta.dirname);
const folder = join(root, "dashboard");
const HASH_FILE = join(folder, "dist", "source.sha256");
/** The files that the build reads; types of the API are not part of its result. */
const INPUTS = ["index.html", "package.json", "public", "src", "vite.config.ts"] as const;

/** Of every source, with its name: one line a file. */
export function sourceHash(): string {
  const files = INPUTS.flatMap((input) => listFiles(join(folder, input))).toSorted();
  const hash = createHash("sha256");
  for (const file of files) {
    const content = createHash("sha256").update(readFileSync(file)).digest("hex");
    hash.update(`${content}  ${relative(folder, file)}\n`);
  }
  return hash.digest("hex");
}

function listFiles(path: string): readonly string[] {
  if (!existsSync(path)) throw new Error(`dashboard: ${relative(root, path)} is missing`);
  const entries = readdirSync(dirname(path), { withFileTypes: true });
  if (entries.some((entry) => entry.isFile() && join(entry.parentPath, entry.name) === path)) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const isCurrent = (): boolean => existsSync(HASH_FILE) && readFileSync(HASH_FILE, "utf8").trim() === sourceHash();

function main(): void {
  if (isCurrent()) return;
  if (process.argv.includes("--check")) {
    console.error("dashboard/dist/ is older than its sources: run `npm run build` and commit what changes");
    process.exitCode = 1;
    return;
  }
  const { status } = spawnSync("vite", ["build", "--logLevel", "warn"], { cwd: folder, stdio: "inherit", env: toolsFirst() });
  if (status !== 0) {
    process.exitCode = 1;
    return;
  }
  writeFileSync(HASH_FILE, `${sourceHash()}\n`);
}

const toolsFirst = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` });

if (import.meta.main) main();
