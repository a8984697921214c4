import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { readRegularFile } from "#kernel/process/regular-file.ts";
import { basename, dirname, join } from "node:path";
import type { Program } from "#rules/seclang/program/program.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";
import type { SourceFile } from "#rules/seclang/syntax/directives.ts";

/** The files of a Core Rule Set, in the load order of its documentation. */
export interface CoreRulesFiles {
  readonly directory: string;
  readonly rules: readonly SourceFile[];
  /** Word lists, by path. */
  readonly words: ReadonlyMap<string, string>;
  /** SHA-256 of all of them, with their names, in hexadecimal. */
  readonly digest: string;
}

const FILES_MAX = 1000;
const BYTES_MAX = 64 << 20;

/** Debian's package has the operator's part in another directory. */
const DEBIAN_SETTINGS: ReadonlyMap<string, string> = new Map([["/usr/share/modsecurity-crs", "/etc/modsecurity/crs"]]);

/** Reads a directory with `rules/*.conf`, and beside it `crs-setup.conf` and `plugins/`. Throws without rules. */
export function readCoreRulesFiles(directory: string): CoreRulesFiles {
  const settings = DEBIAN_SETTINGS.get(directory) ?? directory;
  const rulesFolder = join(directory, "rules");
  const setup = ["crs-setup.conf", "crs-setup.conf.example"].map((name) => join(settings, name)).find((path) => existsSync(path));
  const rules = namesIn(rulesFolder, /\.conf$/);
  if (rules.length === 0) throw new Error(`${rulesFolder} contains no rules: expected files such as REQUEST-901-INITIALIZATION.conf`);
  const plugins = namesIn(join(directory, "plugins"), /\.conf$/);
  const plugged = (when: string): readonly string[] => plugins.filter((path) => path.endsWith(`-${when}.conf`));
  const own = settings === directory ? [] : namesIn(settings, /^RE.*\.conf$/);
  const paths = [
    ...(setup === undefined ? [] : [setup]),
    ...plugged("config"),
    ...plugged("before"),
    ...own.filter((path) => basename(path).startsWith("REQUEST-900")),
    ...rules,
    ...own.filter((path) => basename(path).startsWith("RESPONSE-999")),
    ...plugged("after"),
  ];
  const lists = [...namesIn(rulesFolder, /\.data$/), ...namesIn(join(directory, "plugins"), /\.data$/)];
  return readAll(directory, paths, lists);
}

/** Throws SecLangError with file, line and column. */
export const programFrom = ({ rules, words }: CoreRulesFiles): Program =>
  readProgram({ files: rules, dataFile: (name, beside) => words.get(join(dirname(beside), name)) ?? null });

function namesIn(folder: string, wanted: RegExp): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => wanted.test(name));
  return names.sort().map((name) => join(folder, name));
}

function readAll(directory: string, paths: readonly string[], lists: readonly string[]): CoreRulesFiles {
  if (paths.length + lists.length > FILES_MAX) throw new Error(`more than ${FILES_MAX} files in ${directory}`);
  const hash = createHash("sha256");
  let bytes = 0;
  // One character for each byte, because rules read requests as bytes.
  const read = (path: string): string => {
    if ((bytes += statSync(path).size) > BYTES_MAX) throw new Error(`the files in ${directory} are larger than ${BYTES_MAX >> 20} MiB`);
    const content = readRegularFile(path, BYTES_MAX);
    hash.update(`${basename(path)}\0${content.length}\0`).update(content);
    return content.toString("latin1");
  };
  const rules = paths.map((name) => ({ name, content: read(name) }));
  const words = new Map(lists.map((path) => [path, read(path)]));
  return { directory, rules, words, digest: hash.digest("hex") };
}
