import type { Command } from "commander";
import type { ConfigKeyName } from "#app/config/config-schema.ts";
import { CliError, EXIT, type ExitCode } from "./outcome.ts";

/** Called with the exit code of the command. */
export type Finish = (code: ExitCode) => void;

/** Keys for commands that find the server of a data directory. */
export const CLIENT_KEYS: readonly ConfigKeyName[] = ["data", "json"];

/** Keys for commands that use the database. */
export const DATABASE_KEYS: readonly ConfigKeyName[] = ["data", "database.url", "json"];

export const withApi = (command: Command): Command =>
  command
    .option("--api <url>", "base URL of the API (default: SELVEDGE_API, else the server that uses the data directory)")
    .option("--token <secret>", "API token; prefer SELVEDGE_TOKEN, because other users can see a command's arguments")
    .option(
      "--ca <file>",
      "PEM file of the authority that issued the certificate of the API, if the system does not trust it (default: SELVEDGE_API_CA)",
    );

/** Values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The seconds of `10m` or `600`, given to this flag; without the flag, for ever. */
export function forSeconds(flag: string, text: string | undefined): number {
  if (text === undefined) return Infinity;
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : durationMs(flag, text) / 1000;
}

/** The milliseconds of `90d` or `30m`, given to this flag. */
export function durationMs(flag: string, text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new CliError(`${flag} takes a number and a unit, such as 90d, 12h, 30m or 600s, not "${text}"`, EXIT.usage);
  return Number(count) * (UNIT_MS[unit] ?? 0);
}
