import { PlatformError } from "#kernel/errors/errors.ts";

/**
 * `<vendor>_branding` among the fields under any of its spellings (SPEC 2.7; DESIGN §3); undefined if not given. `at`:
 * where the fields are in the body. Throws `hostname_ssl_invalid`.
 */
export function brandingFlag(fields: object, at: string, vendorPrefix: string): boolean | undefined {
  let branding: boolean | undefined;
  for (const name of [vendorPrefix, "cloudflare", "cf"].map((prefix) => `${prefix}_branding`)) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "boolean")
      throw new PlatformError("hostname_ssl_invalid", { message: `${name} must be true or false`, source: `${at}/${name}` });
    branding = value || branding === true;
  }
  return branding;
}
