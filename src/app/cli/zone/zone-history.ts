import type { DnsVersion } from "#model/dns/dns-version.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { CliError, columns, EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";

const LIMIT_MAX = 1000;

/** Prints the newest versions of a zone, newest first. */
export async function zoneHistory(
  zone: string,
  options: ApiOptions & { readonly limit: string },
  flags: readonly string[],
): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const limit = /^\d{1,4}$/.test(options.limit) ? Number(options.limit) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw new CliError(`--limit takes a number from 1 to ${LIMIT_MAX}`, EXIT.usage);
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}/dns_versions?per_page=${limit}`;
  const versions = (await explained(`zone ${name}`, () => api.call("GET", path))) as readonly DnsVersion[];
  const lines = columns([["VERSION", "TIME", "CHANGE", "RECORDS", "WHO", "WHY"], ...versions.map(versionCells)]);
  print(json, { zone: name, versions }, versions.length === 0 ? [`${name} has no versions yet`] : lines);
  return EXIT.ok;
}

const versionCells = (version: DnsVersion): readonly string[] => [
  String(version.version),
  `${version.created_on.slice(0, 19).replace("T", " ")}Z`,
  `${version.kind}${version.refers_to === null ? "" : ` ${version.refers_to}`}`,
  counts(version),
  version.actor.name,
  version.reason ?? "",
];

/** `+2 ~1 -1`: created, updated and deleted records. */
export const counts = ({ created, updated, deleted }: Pick<DnsVersion, "created" | "updated" | "deleted">): string =>
  [created > 0 ? `+${created}` : "", updated > 0 ? `~${updated}` : "", deleted > 0 ? `-${deleted}` : ""]
    .filter((part) => part !== "")
    .join(" ");
