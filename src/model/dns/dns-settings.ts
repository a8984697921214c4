import { type Static, Type } from "typebox";
import type { PrimaryCopy } from "./primary-copy.ts";
import { Soa, type SoaChange, soaView } from "./soa.ts";

/** Sources of a zone's name servers: of an account's defaults (SPEC 2.5) and of a zone (contract.md §4). */
export const ACCOUNT_NAMESERVER_TYPES = ["cloudflare.standard", "cloudflare.standard.random", "custom.account", "custom.tenant"] as const;
export const ZONE_NAMESERVER_TYPES = [
  "cloudflare.standard",
  "cloudflare.advanced",
  "custom.account",
  "custom.tenant",
  "custom.zone",
] as const;
export type ZoneNameserverType = (typeof ZONE_NAMESERVER_TYPES)[number];
export type AccountNameserverType = (typeof ACCOUNT_NAMESERVER_TYPES)[number];

export const ZONE_MODES = ["standard", "cdn_only", "dns_only"] as const;

export const NsSet = Type.Integer({ minimum: 1, maximum: 5 });
const ZoneNameservers = Type.Object({ type: Type.Enum([...ZONE_NAMESERVER_TYPES]), ns_set: Type.Optional(NsSet) });
export const AccountNameservers = Type.Object({ type: Type.Enum([...ACCOUNT_NAMESERVER_TYPES]) });
const InternalDns = Type.Object({ reference_zone_id: Type.Optional(Type.String({ maxLength: 32 })) });

/** Fields that a zone's settings and an account's defaults share. */
const COMMON = {
  flatten_all_cnames: Type.Boolean(),
  foundation_dns: Type.Boolean(),
  internal_dns: InternalDns,
  multi_provider: Type.Boolean(),
  ns_ttl: Type.Integer({ minimum: 30, maximum: 86_400, description: "TTL of the apex NS records, in seconds." }),
  secondary_overrides: Type.Boolean(),
  zone_mode: Type.Enum([...ZONE_MODES]),
};

/** DNS settings of a zone (SPEC 2.5, contract.md §4). */
export const ZoneDnsSettings = Type.Object({ ...COMMON, soa: Soa, nameservers: ZoneNameservers });
export type ZoneDnsSettings = Static<typeof ZoneDnsSettings>;

const EDITABLE = { ...COMMON, soa: Type.Partial(Soa) };

export const ZoneDnsSettingsEdit = Type.Partial(Type.Object({ ...EDITABLE, nameservers: ZoneNameservers }));
export type ZoneDnsSettingsEdit = Static<typeof ZoneDnsSettingsEdit>;

/** DNS settings of an account: defaults for new zones, and settings that apply to all zones. */
export const AccountDnsSettings = Type.Object({
  enforce_dns_only: Type.Boolean({ description: "If true, no zone of the account is proxied, even if its records are." }),
  zone_defaults: Type.Object({ ...COMMON, soa: Soa, nameservers: AccountNameservers }),
});
export type AccountDnsSettings = Static<typeof AccountDnsSettings>;

export const AccountDnsSettingsEdit = Type.Object({
  enforce_dns_only: Type.Optional(Type.Boolean()),
  zone_defaults: Type.Optional(Type.Partial(Type.Object({ ...EDITABLE, nameservers: AccountNameservers }))),
});
export type AccountDnsSettingsEdit = Static<typeof AccountDnsSettingsEdit>;

/** Explicitly set values; absent ones have their default. */
interface ChosenSettings<Nameservers> {
  readonly flatten_all_cnames?: boolean;
  readonly multi_provider?: boolean;
  readonly ns_ttl?: number;
  readonly secondary_overrides?: boolean;
  readonly soa?: SoaChange;
  readonly zone_mode?: (typeof ZONE_MODES)[number];
  readonly nameservers?: Nameservers;
}

export type ZoneDefaults = ChosenSettings<{ readonly type: AccountNameserverType }>;

/** Stored in `zones.settings`. */
export interface ZoneSettings extends ChosenSettings<{ readonly type: ZoneNameserverType; readonly ns_set?: number }> {
  /** The account's `enforce_dns_only`, copied to each zone so that compiling a zone needs only its row. */
  readonly enforced_dns_only?: boolean;
  /** Secondary zones only; written by transfers. */
  readonly primary?: PrimaryCopy;
}

/** Stored in `accounts.dns_settings`. */
export interface AccountSettingsForDns {
  readonly enforce_dns_only?: boolean;
  readonly zone_defaults?: ZoneDefaults;
}

export const NS_TTL_SECONDS = 86_400;

const commonView = (chosen: ChosenSettings<unknown>) => ({
  flatten_all_cnames: chosen.flatten_all_cnames ?? false,
  // Other values of these two are not supported (`UNAVAILABLE`), so none can be stored.
  foundation_dns: false,
  internal_dns: {},
  multi_provider: chosen.multi_provider ?? false,
  ns_ttl: chosen.ns_ttl ?? NS_TTL_SECONDS,
  secondary_overrides: chosen.secondary_overrides ?? false,
  soa: soaView(chosen.soa ?? {}),
  zone_mode: chosen.zone_mode ?? "standard",
});

export const zoneDnsSettingsView = (chosen: ZoneSettings): ZoneDnsSettings => ({
  ...commonView(chosen),
  nameservers: chosen.nameservers ?? { type: "cloudflare.standard" },
});

export const accountDnsSettingsView = ({ enforce_dns_only, zone_defaults = {} }: AccountSettingsForDns): AccountDnsSettings => ({
  enforce_dns_only: enforce_dns_only ?? false,
  zone_defaults: { ...commonView(zone_defaults), nameservers: zone_defaults.nameservers ?? { type: "cloudflare.standard" } },
});
