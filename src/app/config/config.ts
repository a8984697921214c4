import { join } from "node:path";
import { PROVIDERS } from "#gateway/providers/providers.ts";
import { CONFIG_ROWS, type Config, type ConfigKeyName } from "./config-schema.ts";
import { type Setting, type SourceName, readEnvironment, readFileSource, readFlags } from "./config-sources.ts";
import { VALUE_TYPES } from "./config-values.ts";
import { collidingListeners } from "./listeners.ts";
import { suggest } from "./suggest.ts";

export type { Config } from "./config-schema.ts";

export interface ConfigInput {
  /** The flags after the command's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the file that `--config` or `SELVEDGE_CONFIG` names; throws if it cannot. */
  readonly readFile: (path: string) => string;
}

/** An unusable configuration; `problems` are sentences for people, with file and line. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** The effective configuration: flags before environment before file before defaults. Throws ConfigError. */
export const loadConfig = (input: ConfigInput): Config => resolveConfig(input).config;

/** One key's effective value as `config check` prints it, secrets masked. */
export interface EffectiveValue {
  readonly key: ConfigKeyName;
  readonly value: string;
  readonly source: SourceName | "default";
  readonly origin: string;
}

export interface ResolvedConfig {
  readonly config: Config;
  readonly values: readonly EffectiveValue[];
  /** Sentences about settings that work but should be changed. */
  readonly warnings: readonly string[];
}

export function resolveConfig(input: ConfigInput): ResolvedConfig {
  const flags = readFlags(input.argv);
  const environment = readEnvironment(input.env);
  const file = readConfigFile(flags.file ?? input.env["SELVEDGE_CONFIG"], input.readFile);
  const problems = [...file.problems, ...environment.problems, ...flags.problems];
  const warnings: string[] = [];
  const nested: Record<string, unknown> = {};
  const values: EffectiveValue[] = [];
  const settings = [...file.settings, ...environment.settings, ...flags.settings];
  checkFormerNames(settings, problems, warnings);
  for (const [key, row] of CONFIG_ROWS) {
    const effective = settle(
      key,
      row.default,
      settings.filter((setting) => setting.key === key),
      problems,
    );
    place(nested, key, effective.value);
    values.push({ key, value: shown(key, effective.value), source: effective.source, origin: effective.origin });
  }
  const config = frozen(nested) as Config;
  problems.push(...contradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return { config, values, warnings };
}

/** The address of the control database: `database.url`, or SQLite in the data directory. */
export const databaseUrl = (config: Config): string => config.database.url || `sqlite:${join(config.data, "control.db")}`;

/** The value of one key. */
export function valueOf(config: Config, key: ConfigKeyName): unknown {
  const [section = "", field] = key.split(".");
  const value = (config as Readonly<Record<string, unknown>>)[section];
  return field === undefined ? value : (value as Readonly<Record<string, unknown>>)[field];
}

/** The configuration with other values, which must match their keys. */
export function withValues(config: Config, values: ReadonlyMap<ConfigKeyName, unknown>): Config {
  const nested: Record<string, unknown> = {};
  for (const key of CONFIG_ROWS.keys()) place(nested, key, values.has(key) ? values.get(key) : valueOf(config, key));
  return frozen(nested) as Config;
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EISDIR: "it is a directory",
  EACCES: "this user is not permitted to read it",
};

function readConfigFile(path: string | undefined, readFile: ConfigInput["readFile"]): ReturnType<typeof readFileSource> {
  if (path === undefined || path === "") return { settings: [], problems: [] };
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const reason = UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""] ?? (error as Error).message;
    return { settings: [], problems: [`cannot read the configuration file ${path}: ${reason}`] };
  }
  return readFileSource(path, text);
}

/** A former name works, but not beside the current one in the same source, where neither clearly overrides the other. */
function checkFormerNames(settings: readonly Setting[], problems: string[], warnings: string[]): void {
  for (const { key, source, origin, renamed } of settings) {
    if (renamed === undefined) continue;
    const { from, to } = renamed;
    const where = origin === from ? from : `${origin}: ${from}`;
    if (settings.some((other) => other.key === key && other.source === source && other.renamed === undefined))
      problems.push(`${where} is the former name of ${to}, which is set as well: remove ${from}`);
    else warnings.push(`${where} is the former name of ${to}: use ${to}, because a later version will not accept ${from}`);
  }
}

interface Settled {
  readonly value: unknown;
  readonly source: SourceName | "default";
  readonly origin: string;
}

function settle(key: ConfigKeyName, fallback: unknown, settings: readonly Setting[], problems: string[]): Settled {
  let settled: Settled = { value: fallback, source: "default", origin: "" };
  const merge = typeOf(key).merge as ((lower: unknown, higher: unknown) => unknown) | undefined;
  for (const setting of settings) {
    const value = checked(setting, problems);
    if (value === undefined) continue;
    settled = { value: merge ? merge(settled.value, value) : value, source: setting.source, origin: setting.origin };
  }
  return settled;
}

/** The setting's value, or undefined and a problem. */
function checked({ key, value, origin }: Setting, problems: string[]): unknown {
  const row = CONFIG_ROWS.get(key);
  const type = typeOf(key);
  const accepted: unknown = type.accept(value);
  const outside = typeof accepted === "number" && (accepted < (row?.min ?? accepted) || accepted > (row?.max ?? accepted));
  if (accepted !== undefined && !outside) return accepted;
  const bounds = row?.max === undefined ? "" : ` from ${row.min ?? 0} to ${row.max}`;
  // One value is what somebody has typed, also where a list is possible.
  const typed: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const was = type.secret ? "" : `, not ${JSON.stringify(typed)}`;
  const isInFile = !origin.startsWith("--") && !origin.startsWith("SELVEDGE_");
  const subject = isInFile ? `${origin}: ${key}` : origin;
  // NAME=VALUE is how flags and variables are written.
  const form =
    isInFile && type.merge !== undefined && (typeof value !== "object" || Array.isArray(value))
      ? `. In a file it is a table: NAME = "VALUE" below [${key}]`
      : "";
  problems.push(`${subject} must be ${type.expects}${bounds}${was}${form}`);
  return undefined;
}

/** Contradictions that the types of single keys cannot detect. */
function contradictions(config: Config): string[] {
  const { backup, tls, edge, gateway } = config;
  const problems: string[] = [...collidingListeners(config)];
  if ((tls.certificate === "") !== (tls.key === "")) problems.push("tls.certificate and tls.key must be set together");
  if (edge.addresses.length === 0 && edge.host.some((host) => ["0.0.0.0", "::"].includes(host))) {
    problems.push(
      "edge.addresses must be set when edge.host has a wildcard address: the nameserver returns these addresses for proxied names",
    );
  }
  if (backup.every_hours > 0 && backup.directory === "") problems.push("backup.directory must be set when backup.every_hours is");
  if (backup.passphrase_file !== "" && backup.recipients.length > 0)
    problems.push("backup.passphrase_file and backup.recipients cannot both be set: a backup is encrypted in one of the two ways");
  problems.push(...signInContradictions(config));
  for (const name of Object.keys(gateway.providers)) {
    if (PROVIDERS.has(name)) continue;
    const near = suggest(name, PROVIDERS.keys());
    problems.push(
      `gateway.providers: unknown provider "${name}"${near === undefined ? `; known: ${[...PROVIDERS.keys()].join(", ")}` : `; did you mean "${near}"?`}`,
    );
  }
  const [judge = "", model = ""] = gateway.guardrail_model.split(/\/(.*)/s);
  if (gateway.guardrail_model !== "" && (!PROVIDERS.has(judge) || model === ""))
    problems.push(
      "gateway.guardrail_model must be PROVIDER/MODEL with a provider of the gateway, for example groq/meta-llama/llama-guard-4-12b",
    );
  return problems;
}

function signInContradictions({ api, sign_in }: Config): string[] {
  const { oidc_issuer, oidc_client_id, oidc_client_secret: secret, oidc_client_secret_file: file } = sign_in;
  if (oidc_issuer === "") return [];
  return [
    ...(api.dashboard_url === ""
      ? ["api.dashboard_url must be set when sign_in.oidc_issuer is: the provider sends browsers back there"]
      : []),
    ...(oidc_client_id === "" ? ["sign_in.oidc_client_id must be set when sign_in.oidc_issuer is"] : []),
    ...((secret === "") === (file === "") ? ["either sign_in.oidc_client_secret or sign_in.oidc_client_secret_file must be set"] : []),
  ];
}

function typeOf(key: ConfigKeyName): (typeof VALUE_TYPES)[keyof typeof VALUE_TYPES] {
  const row = CONFIG_ROWS.get(key);
  if (row === undefined) throw new Error(`no such configuration key: ${key}`);
  return VALUE_TYPES[row.type];
}

function shown(key: ConfigKeyName, value: unknown): string {
  const show = typeOf(key).show as ((value: unknown) => string) | undefined;
  return show ? show(value) : JSON.stringify(value);
}

function place(root: Record<string, unknown>, key: string, value: unknown): void {
  const dot = key.indexOf(".");
  if (dot < 0) root[key] = value;
  else ((root[key.slice(0, dot)] ??= {}) as Record<string, unknown>)[key.slice(dot + 1)] = value;
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
