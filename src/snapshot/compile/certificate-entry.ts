import { CERTIFICATE_PRIORITY_MAX } from "#model/certificates/custom-certificate.ts";
import type { CertificateEntry } from "../entries.ts";

export interface CertificateColumns {
  readonly zone_id: string;
  readonly hosts: string;
  readonly chain: string;
  readonly private_key: string;
  readonly not_after: string;
}

export const certificateEntry = (row: CertificateColumns): CertificateEntry => ({
  zone_id: row.zone_id,
  hosts: JSON.parse(row.hosts) as string[],
  chain: row.chain,
  private_key: row.private_key,
  not_after: row.not_after,
});

/** The columns of a zone owner's certificate that its entry uses. */
export interface CustomCertificateColumns extends CertificateColumns {
  readonly type: string;
  readonly priority: number;
  /** Its names that belong to the zone. */
  readonly served_hosts: string;
}

/** Certificates of the type legacy_custom precede others, regardless of priority. */
export const customCertificateEntry = (row: CustomCertificateColumns): CertificateEntry => ({
  ...certificateEntry({ ...row, hosts: row.served_hosts }),
  rank: (row.type === "legacy_custom" ? 2 : 1) * (CERTIFICATE_PRIORITY_MAX + 1) + row.priority,
});
