import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";

/** A prefix that is accepted besides the installation's own, because published guides use it (DESIGN §3). */
const ALWAYS_UNDERSTOOD = "cf";

const textName = (prefix: string, hostname: string): string => `_${prefix}-custom-hostname.${hostname}`;
const httpPath = (prefix: string, id: string): string => `/.well-known/${prefix}-custom-hostname-challenge/${id}`;

const spellings = (vendorPrefix: string): readonly string[] => [...new Set([vendorPrefix, ALWAYS_UNDERSTOOD])];

/** TXT names and HTTP paths of the ownership token, which proves the hostname before it points here. */
export const ownershipLocations = (vendorPrefix: string, { id, hostname }: Pick<CustomHostnameRow, "id" | "hostname">) => ({
  textNames: spellings(vendorPrefix).map((prefix) => textName(prefix, hostname)),
  httpPaths: spellings(vendorPrefix).map((prefix) => httpPath(prefix, id)),
});

/** The same as displayed, with the installation's prefix. */
export const ownershipView = (
  vendorPrefix: string,
  { id, hostname, ownership_token: token }: CustomHostnameRow,
): Pick<CustomHostname, "ownership_verification" | "ownership_verification_http"> => ({
  ownership_verification: { type: "txt", name: textName(vendorPrefix, hostname), value: token },
  ownership_verification_http: { http_url: `http://${hostname}${httpPath(vendorPrefix, id)}`, http_body: token },
});
