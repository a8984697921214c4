import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { closedInTheEnd } from "#kernel/testing/left-open.ts";

/** The result of `npm pack`, unpacked as `npm install` would do, beside its dependencies and no other packages. */
export interface InstalledPackage {
  readonly directory: string;
  readonly program: string;
  /** Paths of the files in the package, as npm prints them. */
  readonly files: readonly string[];
  /** Size of the package, and of its unpacked files, in bytes. */
  readonly size: number;
  readonly unpackedSize: number;
  remove(): void;
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const root = dirname(dirname(import.meta.dirname));
const PACK_MS_MAX = 120_000;

/** In a folder whose path has a space and letters that a URL writes differently. */
export function installPackage(): InstalledPackage {
  const parent = mkdtempSync(join(tmpdir(), "selvedge package ü "));
  const remove = closedInTheEnd(() => rmSync(parent, { recursive: true, force: true }));
  // Others may run it.
  chmodSync(parent, 0o755);
  // The package is the build of these sources.
  execFileSync(process.execPath, [join(root, "tools/build.ts")], { timeout: PACK_MS_MAX });
  const text = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", parent], {
    ...{ cwd: root, encoding: "utf8", timeout: PACK_MS_MAX, maxBuffer: 16 * 1024 * 1024 },
  });
  const packed = packedOf(JSON.parse(text));
  const modules = join(parent, "node_modules");
  const directory = join(modules, "selvedge");
  mkdirSync(directory, { recursive: true });
  execFileSync("tar", ["-xzf", join(parent, packed.filename), "-C", directory, "--strip-components=1"]);
  for (const name of dependencies()) link(join(root, "node_modules", name), join(modules, name));
  return {
    ...{ directory, program: join(directory, "bin/selvedge.js"), size: packed.size, unpackedSize: packed.unpackedSize },
    files: packed.files.map(({ path }) => path),
    remove,
  };
}

/** The dependencies in `package.json`. */
export function dependencies(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, Record<string, string>>;
  return Object.keys({ ...manifest["dependencies"], ...manifest["optionalDependencies"] });
}

/** npm 12 names the package, earlier ones list it. */
function packedOf(told: readonly Packed[] | Readonly<Record<string, Packed>>): Packed {
  const [packed] = Object.values(told);
  if (packed === undefined) throw new Error("npm has packed nothing");
  return packed;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** A user who can write only to their own files; undefined if this process cannot become one, or is not root. */
export function stranger(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const nobody = { uid: 65_534, gid: 65_534 };
  return spawnSync(process.execPath, ["--version"], nobody).status === 0 ? nobody : undefined;
}
