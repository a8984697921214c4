import { TomlError, parse } from "smol-toml";
import { CONFIG_ROWS, type ConfigKeyName, defaultFlagName, flagName, FORMER_KEYS, variableName } from "./config-schema.ts";
import { VALUE_TYPES } from "./config-values.ts";
import { suggest } from "./suggest.ts";
import { createTomlLocator } from "./toml-lines.ts";

export type SourceName = "file" | "environment" | "flag";

/** One explicitly set value, not yet checked against its type. */
export interface Setting {
  readonly key: ConfigKeyName;
  readonly value: unknown;
  readonly source: SourceName;
  /** Its location, as messages name it: `selvedge.toml:3`, `SELVEDGE_API_PORT` or `--api-port`. */
  readonly origin: string;
  /** Set if the source uses the key's former name: both names, as the source spells them. */
  readonly renamed?: Renaming;
}

export interface Renaming {
  readonly from: string;
  readonly to: string;
}

export interface SourceReading {
  readonly settings: readonly Setting[];
  readonly problems: readonly string[];
}

export interface FlagReading extends SourceReading {
  /** The file that `--config` names. */
  readonly file: string | undefined;
}

export function readFileSource(name: string, text: string): SourceReading {
  let document: Record<string, unknown>;
  try {
    document = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
    return { settings: [], problems: [`${name}:${error.line}: ${reason}`] };
  }
  const settings: Setting[] = [];
  const problems: string[] = [];
  const lineOf = createTomlLocator(text);
  const visit = (table: Record<string, unknown>, path: readonly string[]): void => {
    for (const [field, value] of Object.entries(table)) {
      const at = [...path, field];
      const key = at.join(".");
      const origin = `${name}:${lineOf(at)}`;
      const current = FORMER_KEYS.get(key);
      if (isKey(key)) settings.push({ key, value, source: "file", origin });
      else if (current !== undefined) settings.push({ key: current, value, source: "file", origin, renamed: { from: key, to: current } });
      else if (isTable(value) && isSection(key)) visit(value, at);
      else problems.push(`${origin}: unknown key "${key}"${hint(key, knownPaths(), (near) => `"${near}"`)}`);
    }
  };
  visit(document, []);
  return { settings, problems };
}

/** Variables that are read but are not configuration keys. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(["SELVEDGE_CONFIG", "SELVEDGE_TOKEN", "SELVEDGE_API", "SELVEDGE_API_CA"]);

/**
 * An unknown variable is refused only if it looks like a mistyped key: orchestrators set additional variables under a
 * service's name (`SELVEDGE_SERVICE_HOST`).
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): SourceReading {
  const settings: Setting[] = [];
  const problems: string[] = [];
  const keys = new Map(Array.from(CONFIG_ROWS.keys(), (key) => [variableName(key), key]));
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !name.startsWith("SELVEDGE_") || OTHER_VARIABLES.has(name)) continue;
    const key = keys.get(name) ?? FORMER_VARIABLES.get(name);
    if (key !== undefined)
      settings.push({ key, value: fromText(key, text), source: "environment", origin: name, ...renaming(name, variableName(key)) });
    else if (suggest(name, keys.keys()) !== undefined) problems.push(`unknown variable ${name}${hint(name, keys.keys(), (near) => near)}`);
  }
  return { settings, problems };
}

export function readFlags(argv: readonly string[]): FlagReading {
  const settings: Setting[] = [];
  const problems: string[] = [];
  let file: string | undefined;
  const keys = new Map(Array.from(CONFIG_ROWS.keys(), (key) => [flagName(key), key]));
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? "";
    const [, name, inline] = /^--([a-z][a-z0-9-]*)(?:=(.*))?$/s.exec(argument) ?? [];
    const key = name === undefined ? undefined : (keys.get(name) ?? FORMER_FLAGS.get(name));
    if (name === undefined) {
      problems.push(`unexpected argument "${argument}"`);
    } else if (key === undefined && name !== "config") {
      problems.push(`unknown flag --${name}${hint(name, [...keys.keys(), "config"], (near) => `--${near}`)}`);
      // The value of a mistyped flag is not a separate error.
      if (inline === undefined && argv[index + 1]?.startsWith("-") === false) index++;
    } else {
      const isSwitch = key !== undefined && CONFIG_ROWS.get(key)?.type === "switch";
      const text = inline ?? (isSwitch ? "true" : argv[++index]);
      if (text === undefined || (inline === undefined && text.startsWith("--"))) problems.push(`--${name} needs a value`);
      else if (key === undefined) file = text;
      else {
        const renamed = renaming(`--${name}`, `--${flagName(key)}`);
        addFlag(settings, { key, value: fromText(key, text), source: "flag", origin: `--${name}`, ...renamed });
      }
    }
  }
  return { settings, problems, file };
}

/** A list may be given item by item, with a flag for each. */
function addFlag(settings: Setting[], flag: Setting): void {
  const at = settings.findIndex(({ key, origin }) => key === flag.key && origin === flag.origin);
  const before = settings[at]?.value;
  if (Array.isArray(before) && Array.isArray(flag.value)) settings[at] = { ...flag, value: [...before, ...flag.value] };
  else settings.push(flag);
}

const FORMER_VARIABLES = new Map(Array.from(FORMER_KEYS, ([former, key]) => [variableName(former), key]));
const FORMER_FLAGS = new Map(Array.from(FORMER_KEYS, ([former, key]) => [defaultFlagName(former), key]));

const renaming = (from: string, to: string): { readonly renamed?: Renaming } => (from === to ? {} : { renamed: { from, to } });

const isKey = (key: string): key is ConfigKeyName => CONFIG_ROWS.has(key as ConfigKeyName);
const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
const isSection = (path: string): boolean => [...CONFIG_ROWS.keys()].some((key) => key.startsWith(`${path}.`));

function knownPaths(): string[] {
  const keys = [...CONFIG_ROWS.keys()];
  return [...keys, ...new Set(keys.filter((key) => key.includes(".")).map((key) => key.slice(0, key.indexOf("."))))];
}

function fromText(key: ConfigKeyName, text: string): unknown {
  const row = CONFIG_ROWS.get(key);
  return (row && VALUE_TYPES[row.type].fromText?.(text)) ?? text;
}

function hint(word: string, candidates: Iterable<string>, quote: (near: string) => string): string {
  const near = suggest(word, candidates);
  return near === undefined ? "" : `; did you mean ${quote(near)}?`;
}
