import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { RdataError } from "#wire/dns/record-types.ts";
import { parseZoneFile, type ZoneFile } from "#wire/dns/zonefile.ts";
import { loadConfig } from "../config.ts";
import type { ApiClient } from "./api-client.ts";
import { configInput } from "./config-input.ts";
import { importRecord, type LineFailure } from "./record-import.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "./outcome.ts";
import { type ApiOptions, explained, findZone, openApi, plainZoneName } from "./zone-api.ts";

export interface ZoneImportOptions extends ApiOptions {
  readonly zone: string;
  readonly create?: boolean;
  readonly account?: string;
}

/** Calls under way at once: enough to keep the API's group commit busy. */
const CONCURRENCY = 16;

/** Creates the file's records; 1 when a line failed. What exists already in the same form counts as skipped. */
export async function zoneImport(file: string, options: ZoneImportOptions, flags: readonly string[]): Promise<ExitCode> {
  const zoneName = plainZoneName(options.zone);
  const config = loadConfig(configInput(flags));
  const api = openApi(options, config.data);
  const { records, errors } = parsed(await readInput(file), zoneName);
  const zoneId = await zoneIdOf(api, zoneName, options);
  const failed: LineFailure[] = [...errors];
  const counts = { created: 0, skipped: 0 };
  await inParallel(records, async (record) => {
    const outcome = await importRecord(api, { id: zoneId, name: zoneName }, record);
    if (outcome === "created" || outcome === "skipped") counts[outcome]++;
    else failed.push(outcome);
  });
  failed.sort((a, b) => a.line - b.line);
  complain(failed.map(({ line, message }) => `${file}:${line}: ${message}`));
  print(config.json, { zone: zoneName, zone_id: zoneId, ...counts, failed }, [
    `${zoneName}: ${counts.created} created, ${counts.skipped} skipped, ${failed.length} failed`,
  ]);
  return failed.length === 0 ? EXIT.ok : EXIT.failed;
}

async function readInput(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

function parsed(zoneFile: string, zoneName: string): ZoneFile {
  try {
    return parseZoneFile(zoneFile, { origin: zoneName });
  } catch (error) {
    if (error instanceof RdataError) throw new CliError(`--zone ${zoneName}: the name ${error.message}`, EXIT.usage);
    throw error;
  }
}

const zoneIdOf = (api: ApiClient, name: string, options: ZoneImportOptions): Promise<string> =>
  explained(`zone ${name}`, async () => {
    const found = await findZone(api, name);
    if (found !== undefined) return found;
    if (!options.create) throw new CliError(`there is no zone ${name} that this token may see; --create makes one`);
    const account = { id: options.account ?? (await onlyAccount(api)) };
    const { id } = (await api.call("POST", "/zones", { name, type: "full", account })) as { id: string };
    return id;
  });

async function onlyAccount(api: ApiClient): Promise<string> {
  const accounts = (await api.call("GET", "/accounts")) as readonly { id: string }[];
  const [account] = accounts;
  if (account === undefined || accounts.length > 1)
    throw new CliError(`the token sees ${accounts.length} accounts: name one with --account`, EXIT.usage);
  return account.id;
}

/** Runs the jobs in order, a bounded number at a time; the first that throws ends the run. */
async function inParallel<T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as T;
      await job(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
}
