import type { DnsVersion, DnsVersionDetail } from "#model/dns/dns-version.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone-api.ts";
import { diffLines, versionNumber } from "./zone-diff.ts";
import { counts } from "./zone-history.ts";

export interface ZoneRevertOptions extends ApiOptions {
  readonly version?: string | undefined;
  readonly to?: string;
  readonly reason?: string;
}

/** Undoes one version, or restores one, and prints the changes. */
export async function zoneRevert(zone: string, options: ZoneRevertOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json, vendor } = loadConfig(configInput(flags));
  const { version, to, reason } = options;
  if ((version === undefined) === (to === undefined))
    throw new CliError("name the version to undo, or with --to the version to restore", EXIT.usage);
  const target = versionNumber(version ?? to ?? "");
  // A header's octets: fetch accepts Latin-1, the API decodes UTF-8.
  const headers = reason === undefined ? {} : { [`${vendor.prefix}-change-reason`]: Buffer.from(reason, "utf8").toString("latin1") };
  const api = openZoneApi(options, data, headers);
  const name = plainZoneName(zone);
  const versions = `/zones/${await requireZone(api, name)}/dns_versions`;
  const done = await explained(`zone ${name}`, async () => {
    const [newest] = (await api.call("GET", `${versions}?per_page=1`)) as readonly DnsVersion[];
    const made = (await api.call("POST", `${versions}/${target}/${version === undefined ? "restore" : "revert"}`)) as DnsVersion;
    if (made.version === newest?.version) return null;
    return (await api.call("GET", `${versions}/${made.version}`)) as DnsVersionDetail;
  });
  if (done === null) {
    print(json, { zone: name, version: null }, [`${name} is already as it was at version ${target}`]);
    return EXIT.ok;
  }
  const shown = done.changes.flatMap((change) => diffLines(change, name));
  print(json, { zone: name, version: done }, [`${name}: version ${done.version} created (${counts(done)})`, ...shown]);
  return EXIT.ok;
}
