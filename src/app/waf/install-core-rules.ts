import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { programFrom, readCoreRulesFiles } from "./core-rules-files.ts";
import { type ArchivedFile, readTarGz } from "./tar.ts";

/** The Core Rule Set that `installCoreRules` has put into the data directory. */
export interface InstalledCoreRules {
  /** SHA-256 of the archive, in hexadecimal. */
  readonly sha256: string;
  readonly version: string;
  readonly rules: number;
  readonly directory: string;
}

/** The files of a release that the rules need. */
const WANTED = /^(?:crs-setup\.conf(?:\.example)?|(?:rules|plugins)\/[\w.-]{1,200}\.(?:conf|data)(?:\.example)?)$/;

/**
 * Unpacks a release of the Core Rule Set to a directory that servers check. Throws, without changes, if the digest
 * differs from `sha256`, or if its rules do not compile. An existing `crs-setup.conf` and plugins stay.
 */
export function installCoreRules(archive: string, directory: string, sha256: string | undefined): InstalledCoreRules {
  const bytes = readFileSync(archive);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== undefined && sha256.toLowerCase() !== found)
    throw new Error(`the SHA-256 digest of ${archive} is ${found}, not ${sha256}`);
  const aside = `${directory}.new`;
  rmSync(aside, { recursive: true, force: true });
  try {
    for (const { path, content } of releaseFiles(readTarGz(bytes))) {
      mkdirSync(dirname(join(aside, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(aside, path), content, { mode: 0o600 });
    }
    keepOwn(directory, aside);
    const program = programFrom(readCoreRulesFiles(aside));
    rmSync(directory, { recursive: true, force: true });
    renameSync(aside, directory);
    const rules = program.phases.reduce((sum, steps) => sum + steps.filter(({ kind }) => kind === "rule").length, 0);
    return { sha256: found, version: program.components[0] ?? "", rules, directory };
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
}

/** Without the top folder of releases, and without files unrelated to rules. */
function releaseFiles(files: readonly ArchivedFile[]): readonly ArchivedFile[] {
  const paths = files.map(({ path }) => `/${path}`);
  const root = paths.find((path) => path.endsWith(".conf") && path.slice(0, path.lastIndexOf("/")).endsWith("/rules"));
  if (root === undefined) throw new Error("the archive has no rules/*.conf: is it a release of the OWASP Core Rule Set?");
  const prefix = root.slice(1, root.lastIndexOf("rules/"));
  return files
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, content }) => ({ path: path.slice(prefix.length), content }))
    .filter(({ path }) => WANTED.test(path));
}

/** The operator's settings survive an update. */
function keepOwn(directory: string, aside: string): void {
  for (const name of ["crs-setup.conf"]) {
    try {
      writeFileSync(join(aside, name), readFileSync(join(directory, name)), { mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
