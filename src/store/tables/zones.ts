import type { Generated } from "kysely";

export interface ZonesTable {
  id: string;
  account_id: string;
  name: string;
  /** The name reversed (migration 0136); null in older rows. */
  name_reversed: string | null;
  status: string;
  type: string;
  paused: number;
  plan: string;
  name_servers: string;
  settings: string;
  serial: number;
  /** Number of the zone's DNS records, updated by the statement that raises the serial, so that inserts need not count. */
  record_count: number;
  /** Number of versions that writes of its records have made; decides when old ones are deleted. */
  dns_version_count: Generated<number>;
  vanity_name_servers: string;
  /** Traffic settings that differ from their defaults (model/zones/zone-settings.ts). */
  edge_settings: Generated<string>;
  /** `MigrationState` of model/rulesets/waf-migration.ts. */
  waf_migration: Generated<string>;
  /** `ZoneProof` of model/zones/zone-proof.ts. */
  proof: string;
  /** Key in a TXT record at the zone's current name servers that proves ownership; empty if that is impossible. */
  verification_key: string;
  /** JSON: the parent's name servers at the first check; null before it. */
  original_name_servers: string | null;
  /**
   * JSON: the installation's name servers to which the parent should delegate; empty if none was free, so that a
   * delegation proves nothing.
   */
  pair: string;
  activated_on: string | null;
  created_on: string;
  modified_on: string;
}

/** Pending checks of a zone's ownership, and their times; zones without pending checks have no row. */
export interface ZoneClaimsTable {
  zone_id: string;
  /** When the zone entered its status. */
  since_ms: number;
  next_look_ms: number;
  looks: number;
  /** Consecutive checks that saw the zone's pair at the parent, and the first of them. */
  seen_looks: number;
  seen_ms: number | null;
  /** Consecutive checks that saw other name servers there, and the first of them. */
  elsewhere_looks: number;
  elsewhere_since_ms: number | null;
  /** When the owner last requested a check. */
  asked_ms: number | null;
  /** Findings of the last check, as text for people. */
  reason: string;
}

/** Deleted zones that were active, by name and account. */
export interface FormerZonesTable {
  name: string;
  account_id: string;
  /** JSON: its former pair. */
  pair: string;
  /** The highest serial that its name ever had. */
  serial: number;
  proof: string;
  deleted_ms: number;
  /** From then on, a later zone of the name needs nothing of the row. */
  ends_ms: number;
}

export interface ZoneHoldsTable {
  zone_id: string;
  hold: number;
  /** When a released hold takes effect again. */
  hold_after_ms: number | null;
  include_subdomains: number;
  modified_on: string;
}

/** `value` is the entry of the snapshot as JSON. */
export interface CachePurgesTable {
  zone_id: string;
  value: string;
}

export interface CustomNameServersTable {
  account_id: string;
  name: string;
  ns_set: number;
  created_on: string;
}
