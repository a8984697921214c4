import { loadConfig } from "#app/config/config.ts";
import type { CertificatePack } from "#model/certificates/certificate-pack.ts";
import { configInput } from "../config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "../zone/zone-api.ts";

/** Prints the certificates of a zone. */
export async function certificateList(zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const path = `/zones/${await requireZone(api, name)}/ssl/certificate_packs?status=all`;
  const certificates = (await explained(`zone ${name}`, () => api.call("GET", path))) as readonly CertificatePack[];
  const rows = certificates.map(
    ({ type, status, hosts, certificate_authority: authority = "", certificates: made, validation_errors: faults = [] }) => [
      ...[type, status, authority, made[0]?.expires_on.slice(0, 10) ?? "", printable(hosts.join(", "))],
      printable(faults[0]?.message ?? ""),
    ],
  );
  print(json, { zone: name, certificates }, columns([["TYPE", "STATUS", "AUTHORITY", "EXPIRES", "NAMES", "PROBLEM"], ...rows]));
  return EXIT.ok;
}
