import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Whether the repository has the commit: a shallow clone has not. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Builds an earlier commit in a new directory, with today's packages; the path of its `bin/selvedge.js`. */
export function buildCommit(commit: string, directory: string): string {
  mkdirSync(directory, { recursive: true });
  const files = execFileSync("git", ["archive", commit, "package.json", "tsconfig.json", "bin", "src", "tools", "dashboard", "docs"], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  execFileSync("tar", ["-x", "-C", directory], { input: files });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  execFileSync(process.execPath, ["tools/build.ts"], { cwd: directory, stdio: "ignore" });
  return join(directory, "bin/selvedge.js");
}
