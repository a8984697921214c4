import { PlatformError } from "#kernel/errors/errors.ts";

/** The fields of a settings change that may select unsupported features. */
interface Change {
  readonly foundation_dns?: boolean;
  readonly internal_dns?: { readonly reference_zone_id?: string };
  readonly zone_mode?: string;
  readonly nameservers?: { readonly type: string };
}

/** Values that are refused because they would have no effect. */
const UNAVAILABLE: readonly { readonly source: string; is(change: Change, pointer: string): boolean; readonly why: string }[] = [
  {
    source: "/foundation_dns",
    is: (change) => change.foundation_dns === true,
    why: "There is only one type of name servers; foundation_dns must be false.",
  },
  {
    source: "/internal_dns/reference_zone_id",
    is: (change) => (change.internal_dns?.reference_zone_id ?? "") !== "",
    why: "Internal zones are not supported, so a zone cannot fall back to a reference zone.",
  },
  {
    source: "/zone_mode",
    is: (change) => change.zone_mode === "cdn_only",
    why: "The name servers serve every zone; zone_mode must be standard or dns_only.",
  },
  {
    source: "/nameservers/type",
    is: (change) => change.nameservers?.type === "cloudflare.advanced",
    why: "There is only one type of name servers; use cloudflare.standard.",
  },
  {
    source: "/nameservers/type",
    // SPEC 2.5 allows it as an account's default, where it defines the fallback without tenant name servers.
    is: (change, pointer) => change.nameservers?.type === "custom.tenant" && pointer === "",
    why: "Tenant name servers are not supported.",
  },
];

/** Throws `setting_unavailable`. `pointer`: location of the settings in the body. */
export function checkAvailable(change: Change, pointer: string): void {
  const row = UNAVAILABLE.find(({ is }) => is(change, pointer));
  if (row) throw new PlatformError("setting_unavailable", { message: row.why, source: pointer + row.source });
}
