import type { Command } from "commander";
import type { ConfigKeyName } from "#app/config/config-schema.ts";
import type { ExitCode } from "./outcome.ts";

/** Called with the exit code of the command. */
export type Finish = (code: ExitCode) => void;

/** Keys for commands that find the server of a data directory. */
export const CLIENT_KEYS: readonly ConfigKeyName[] = ["data", "json"];

/** Keys for commands that use the database. */
export const DATABASE_KEYS: readonly ConfigKeyName[] = ["data", "database.url", "json"];

export const withApi = (command: Command): Command =>
  command
    .option("--api <url>", "base URL of the API (default: SELVEDGE_API, else the server that uses the data directory)")
    .option("--token <secret>", "API token; prefer SELVEDGE_TOKEN, because other users can see a command's arguments");

/** Values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
