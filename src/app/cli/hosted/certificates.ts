import type { CertificatePack } from "#model/certificates/certificate-pack.ts";
import { columns, type ExitCode, print, printable } from "../outcome.ts";
import { inZone } from "../zone/in-zone.ts";
import type { ApiOptions } from "../zone/zone-api.ts";

const HEAD = ["TYPE", "STATUS", "AUTHORITY", "EXPIRES", "NAMES", "PROBLEM"];

/** Prints the certificates of a zone. */
export const certificateList = (zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> =>
  inZone(zone, options, flags, async ({ api, path, json, name }) => {
    const certificates = (await api.call("GET", `${path}/ssl/certificate_packs?status=all`)) as readonly CertificatePack[];
    print(json, { zone: name, certificates }, columns([HEAD, ...certificates.map(cells)]));
  });

const cells = ({
  type,
  status,
  hosts,
  certificate_authority: authority = "",
  certificates,
  validation_errors: faults = [],
}: CertificatePack) => [
  ...[type, status, authority, certificates[0]?.expires_on.slice(0, 10) ?? "", printable(hosts.join(", "))],
  printable(faults[0]?.message ?? ""),
];
