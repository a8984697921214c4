import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";

/** Spelled with the installation's own prefix; what published guides name is understood as well (DESIGN §3). */
const ALWAYS_UNDERSTOOD = "cf";

const textName = (prefix: string, hostname: string): string => `_${prefix}-custom-hostname.${hostname}`;
const httpPath = (prefix: string, id: string): string => `/.well-known/${prefix}-custom-hostname-challenge/${id}`;

const spellings = (vendorPrefix: string): readonly string[] => [...new Set([vendorPrefix, ALWAYS_UNDERSTOOD])];

/** Where a token may stand by which the hostname's owner gives it to the zone before it points here. */
export const ownershipPlaces = (vendorPrefix: string, { id, hostname }: Pick<CustomHostnameRow, "id" | "hostname">) => ({
  textNames: spellings(vendorPrefix).map((prefix) => textName(prefix, hostname)),
  httpPaths: spellings(vendorPrefix).map((prefix) => httpPath(prefix, id)),
});

/** The same as it is shown. */
export const ownershipView = (
  vendorPrefix: string,
  { id, hostname, ownership_token: token }: CustomHostnameRow,
): Pick<CustomHostname, "ownership_verification" | "ownership_verification_http"> => ({
  ownership_verification: { type: "txt", name: textName(vendorPrefix, hostname), value: token },
  ownership_verification_http: { http_url: `http://${hostname}${httpPath(vendorPrefix, id)}`, http_body: token },
});
