import type { DnsVersionChange } from "#model/dns/dns-version.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { recordLine } from "../record-line.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

export interface ZoneDiffOptions extends ApiOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const PER_PAGE = 5000;

/** Prints the differences between two versions of a zone: a line with - or + for each removed or added record. */
export async function zoneDiff(zone: string, options: ZoneDiffOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const query = new URLSearchParams({ per_page: String(PER_PAGE) });
  for (const name of ["from", "to"] as const) {
    const version = options[name];
    if (version !== undefined) query.set(name, versionNumber(version));
  }
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}/dns_versions/diff?${query}`;
  const changes: DnsVersionChange[] = [];
  for (let page = 1; ; page++) {
    const items = (await explained(`zone ${name}`, () => api.call("GET", `${path}&page=${page}`))) as readonly DnsVersionChange[];
    changes.push(...items);
    if (items.length < PER_PAGE) break;
  }
  print(json, { zone: name, changes }, changes.length === 0 ? ["no difference"] : changes.flatMap((change) => diffLines(change, name)));
  return EXIT.ok;
}

/** The old record, then the new one. */
export const diffLines = ({ before, after }: DnsVersionChange, zoneName: string): readonly string[] => [
  ...(before ? [`- ${recordLine(before, zoneName)}`] : []),
  ...(after ? [`+ ${recordLine(after, zoneName)}`] : []),
];

/** Throws CliError if the text is not a version. */
export function versionNumber(text: string): string {
  if (/^\d{1,10}$/.test(text)) return text;
  throw new CliError(`${JSON.stringify(text)} is not a version; zone history lists the version numbers`, EXIT.usage);
}
