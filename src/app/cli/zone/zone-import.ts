import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ERROR_CODES } from "#kernel/errors/error-codes.ts";
import { RdataError } from "#wire/dns/record-types.ts";
import type { ImportLine } from "#model/dns/dns-import.ts";
import { parseZoneFile, type ZoneFileError } from "#wire/zone-files/zonefile.ts";
import { loadConfig } from "#app/config/config.ts";
import { type ApiClient, ApiFailure } from "../api-client.ts";
import { configInput } from "../config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "../outcome.ts";
import { onlyAccount } from "./only-account.ts";
import { type ApiOptions, explained, findZone, openZoneApi, plainZoneName } from "./zone-api.ts";

export interface ZoneImportOptions extends ApiOptions {
  readonly zone: string;
  readonly create?: boolean;
  readonly account?: string;
  readonly proxied?: boolean;
  readonly onError?: string;
  readonly dryRun?: boolean;
}

/**
 * Adds the file's records; returns 1 if a line is wrong, unless wrong lines are skipped. Records that already exist in
 * the same form count as skipped.
 */
export async function zoneImport(file: string, options: ZoneImportOptions, flags: readonly string[]): Promise<ExitCode> {
  const zone = plainZoneName(options.zone);
  const config = loadConfig(configInput(flags));
  const api = openZoneApi(options, config.data);
  const zoneFile = await readInput(file);
  // Before anything is created: a zone without its records would be useless.
  let failed = options.onError === "skip" ? [] : unreadableLines(zoneFile, zone);
  let outcome: Imported = { zone_id: null, created: 0, skipped: 0, report: [] };
  if (failed.length === 0) {
    try {
      outcome = await importFile(api, zone, zoneFile, options);
    } catch (error) {
      failed = refusedLines(error);
    }
  }
  complain([
    ...failed.map(({ line, message }) => `${file}:${line}: ${message}`),
    ...outcome.report.map(({ line, action, message }) => `${file}:${line}: ${action}${message === undefined ? "" : `: ${message}`}`),
  ]);
  print(config.json, { zone, ...outcome, failed }, [
    failed.length > 0
      ? `${zone}: nothing was imported`
      : `${zone}: ${outcome.created} ${options.dryRun ? "would be created" : "created"}, ${outcome.skipped} skipped`,
  ]);
  return failed.length === 0 ? EXIT.ok : EXIT.failed;
}

interface Imported {
  readonly zone_id: string | null;
  readonly created: number;
  readonly skipped: number;
  /** Lines that were changed or skipped; in a dry run all. */
  readonly report: readonly ImportLine[];
}

interface ImportAnswer {
  readonly recs_added: number;
  readonly total_records_parsed: number;
  readonly report?: readonly ImportLine[];
  readonly import?: { readonly report: readonly ImportLine[] };
}

async function importFile(api: ApiClient, zone: string, file: string, options: ZoneImportOptions): Promise<Imported> {
  const id = await zoneIdOf(api, zone, options);
  const form = new FormData();
  form.set("file", new Blob([file]), "zone.txt");
  form.set("proxied", String(options.proxied === true));
  if (options.onError !== undefined) form.set("on_error", options.onError);
  if (options.dryRun) form.set("dry_run", "true");
  const done = (await api.upload(`/zones/${id}/dns_records/import`, form)) as ImportAnswer;
  const { recs_added, total_records_parsed, report = done.import?.report ?? [] } = done;
  return { zone_id: id, created: recs_added, skipped: total_records_parsed - recs_added, report };
}

async function readInput(file: string): Promise<string> {
  try {
    return file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

function unreadableLines(file: string, zone: string): readonly ZoneFileError[] {
  try {
    return parseZoneFile(file, { origin: zone }).errors;
  } catch (error) {
    if (error instanceof RdataError) throw new CliError(`--zone ${zone}: the name ${error.message}`, EXIT.usage);
    throw error;
  }
}

/** The lines that the API names. Other refusals become the command's error. */
function refusedLines(error: unknown): readonly ZoneFileError[] {
  if (!(error instanceof ApiFailure)) throw error;
  if (error.has(ERROR_CODES.body_too_large.code))
    throw new CliError(`${error.message} The operator of the server can raise the limit with dns.import_bytes_max`);
  const lines = error.errors
    .flatMap(({ error_chain = [] }) => error_chain)
    .flatMap(({ code, message }): ZoneFileError[] => {
      const [, line, rest] = /^Line (\d+): (.*)$/s.exec(message) ?? [];
      return line === undefined ? [] : [{ line: Number(line), message: `${rest} (${code})` }];
    });
  if (lines.length === 0) throw new CliError(error.message);
  return lines;
}

const zoneIdOf = (api: ApiClient, name: string, options: ZoneImportOptions): Promise<string> =>
  explained(`zone ${name}`, async () => {
    const found = await findZone(api, name);
    if (found !== undefined) return found;
    if (!options.create) throw new CliError(`this token cannot access a zone ${name}; --create creates it`);
    const account = { id: options.account ?? (await onlyAccount(api)) };
    const { id } = (await api.call("POST", "/zones", { name, type: "full", account })) as { id: string };
    return id;
  });
