import { NS_TTL_SECONDS, type ZoneSettings } from "#model/dns/dns-settings.ts";
import { keyForParent, type RolloverStage, signingKey } from "#model/dns/dnssec-life.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { SOA_DEFAULTS, type SoaChange, type SoaValues } from "#model/dns/soa.ts";
import { edgeSettings } from "../chosen-settings.ts";
import type { DnssecEntry, SerialEntry, ZoneEntry } from "../entries.ts";

/** The columns of a zone's row that its entry uses; JSON columns are text. */
export interface ZoneColumns {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly status: string;
  readonly paused: number;
  readonly type: string;
  readonly plan: string;
  readonly name_servers: string;
  readonly vanity_name_servers: string;
  readonly settings: string;
  readonly edge_settings: string;
  readonly proof: string;
  readonly created_on: string;
}

export function zoneEntry(row: ZoneColumns): ZoneEntry {
  const settings = JSON.parse(row.settings) as ZoneSettings;
  const copy = primaryCopy(row);
  const nameServers = copy?.apex?.name_servers ?? servingNames(row, settings);
  const ownAddresses = row.type === "secondary" && settings.secondary_overrides !== true;
  const edge = edgeSettings(row.edge_settings);
  const dnsOnly = settings.zone_mode === "dns_only" || settings.enforced_dns_only === true || ownAddresses;
  return {
    id: row.id,
    account_id: row.account_id,
    name: row.name,
    status: row.status as ZoneEntry["status"],
    proof: row.proof as ZoneProof,
    // Planes treat them alike: every name has its own addresses and is not proxied.
    paused: row.paused === 1 || dnsOnly,
    type: row.type as ZoneEntry["type"],
    plan: row.plan as ZoneEntry["plan"],
    name_servers: nameServers,
    soa: copy?.apex?.soa ?? soaOf(row.name, nameServers, settings.soa ?? {}),
    ns_ttl: copy?.apex?.ns_ttl ?? settings.ns_ttl ?? NS_TTL_SECONDS,
    flatten_all_cnames: settings.flatten_all_cnames ?? false,
    multi_provider: settings.multi_provider ?? false,
    secondary_overrides: settings.secondary_overrides ?? false,
    ...(edge === null ? {} : { edge }),
    ...(copy?.expired === true ? { expired: true } : {}),
    ...(row.status === "pending" ? { created_on: row.created_on } : {}),
  };
}

/** The zone's chosen name servers replace the installation's, unless its settings choose others. */
function servingNames(row: ZoneColumns, { nameservers }: ZoneSettings): readonly string[] {
  const vanity = JSON.parse(row.vanity_name_servers) as string[];
  const own = vanity.length > 0 && (nameservers === undefined || nameservers.type === "custom.zone");
  return own ? vanity : (JSON.parse(row.name_servers) as string[]);
}

/** RFC 2142 §7 names the mailbox of a zone's administrator. */
const soaOf = (zoneName: string, nameServers: readonly string[], { mname, rname, ...numbers }: SoaChange): SoaValues => ({
  ...SOA_DEFAULTS,
  ...numbers,
  mname: mname ?? nameServers[0] ?? zoneName,
  rname: rname ?? `hostmaster.${zoneName}`,
});

/** A zone of type secondary answers with its primary's serial; its own counts the versions of its records. */
export const serialEntry = (row: Pick<ZoneColumns, "type" | "settings"> & { readonly serial: number }): SerialEntry => ({
  serial: primaryCopy(row)?.apex?.serial ?? row.serial,
});

/** The columns of a zone's DNSSEC that its entry uses. */
export interface DnssecColumns {
  readonly status: string;
  readonly rollover: string;
  readonly multi_signer: number;
}

export interface DnssecKeyColumns {
  readonly id: string;
  readonly public_key: string;
  readonly private_key: string;
}

/**
 * Null if the zone is unsigned: DNSSEC is off. It stays signed while the parent may still have its DS. `keys` are the
 * zone's keys, oldest first.
 */
export function dnssecEntry(row: DnssecColumns | undefined, keys: readonly DnssecKeyColumns[]): DnssecEntry | null {
  if (row === undefined || row.status === "disabled" || keys.length === 0) return null;
  const life = { rollover: row.rollover as RolloverStage, keys: keys.map(({ id }) => id) };
  const signing = signingKey(life);
  return {
    keys: keys.map(({ id, public_key, private_key }) => ({ id, public_key, private_key, signs_zone: id === signing })),
    // With several signers none can act for all: a request of one would end the others' DS records.
    cds: row.multi_signer === 1 ? [] : row.status === "pending-disabled" ? "delete" : [keyForParent(life)],
  };
}
