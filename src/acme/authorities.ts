/** A certificate authority that issues over ACME (RFC 8555), as the field knows it (custom-hostnames.md §1). */
export interface Authority {
  /** Its name in `ssl.certificate_authority`. */
  readonly name: AuthorityName;
  readonly directoryUrl: string;
  /** Its names in CAA records, any of which lets it issue (RFC 8659 §4.2). */
  readonly caaDomains: readonly string[];
  /** Days for which the token of a validation stays valid. */
  readonly tokenDays: number;
  /** Labels that a name may have; null if no limit is known. */
  readonly labelsMax: number | null;
  readonly takesPunycode: boolean;
  /** An ACME account must be bound to an account at the authority (RFC 8555 §7.3.4). */
  readonly needsBinding: boolean;
}

export type AuthorityName = "google" | "lets_encrypt" | "ssl_com" | "digicert";

export const AUTHORITIES: readonly Authority[] = [
  {
    name: "google",
    directoryUrl: "https://dv.acme-v02.api.pki.goog/directory",
    caaDomains: ["pki.goog"],
    tokenDays: 14,
    labelsMax: null,
    takesPunycode: false,
    needsBinding: true,
  },
  {
    name: "ssl_com",
    directoryUrl: "https://acme.ssl.com/sslcom-dv-ecc",
    caaDomains: ["ssl.com"],
    tokenDays: 14,
    labelsMax: null,
    takesPunycode: true,
    needsBinding: true,
  },
  {
    name: "lets_encrypt",
    directoryUrl: "https://acme-v02.api.letsencrypt.org/directory",
    caaDomains: ["letsencrypt.org"],
    tokenDays: 7,
    labelsMax: 10,
    takesPunycode: true,
    needsBinding: false,
  },
  {
    name: "digicert",
    directoryUrl: "https://acme.digicert.com/v2/acme/directory/",
    caaDomains: ["digicert.com"],
    tokenDays: 14,
    labelsMax: null,
    takesPunycode: true,
    needsBinding: true,
  },
];

export const authorityNamed = (name: string): Authority | undefined => AUTHORITIES.find((authority) => authority.name === name);

/**
 * Human-readable reason why the authority refuses one of the names; null if it accepts them all. Wildcards count without
 * their `*`.
 */
export function refusedName({ name, labelsMax, takesPunycode }: Authority, hosts: readonly string[]): string | null {
  for (const host of hosts) {
    const labels = host.replace(/^\*\./, "").split(".");
    if (labelsMax !== null && labels.length > labelsMax)
      return `${name} issues for names of at most ${labelsMax} labels, and ${host} has ${labels.length}`;
    if (!takesPunycode && labels.some((label) => label.startsWith("xn--")))
      return `${name} does not issue for internationalized names such as ${host}`;
  }
  return null;
}
