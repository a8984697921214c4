export interface RulesetsTable {
  id: string;
  /** `account` or `zone`. */
  level: string;
  owner_id: string;
  name: string;
  description: string;
  kind: string;
  phase: string;
  version: number;
  rules: string;
  last_updated: string;
}

/** The newest versions of each ruleset, including the current one. */
export interface RulesetVersionsTable {
  ruleset_id: string;
  version: number;
  name: string;
  description: string;
  rules: string;
  last_updated: string;
}

export interface RuleListsTable {
  id: string;
  account_id: string;
  name: string;
  /** `ip`, `hostname`, `asn` or `redirect`. */
  kind: string;
  description: string;
  num_items: number;
  created_on: string;
  modified_on: string;
}

export interface RuleListItemsTable {
  list_id: string;
  id: string;
  /** The item's canonical form, which identifies it. */
  item_key: string;
  /** 16 bits of a hash of the key, which select the part of the list's snapshot. */
  bucket: number;
  /** The item as planes receive it, JSON. */
  value: string;
  comment: string;
  created_on: string;
  modified_on: string;
}

export interface RuleListOperationsTable {
  id: string;
  account_id: string;
  list_id: string;
  /** `pending`, `running`, `completed` or `failed`. */
  status: string;
  error: string | null;
  created_on: string;
  completed: string | null;
}

/** Row counts and versions of lists, maintained by triggers (migrations/0063-list-states.ts). */
export interface ListStatesTable {
  /** The listed table. */
  list: string;
  owner: string;
  row_count: number;
  version: number;
}

/** A zone's objects of the previous firewall. Packages, groups and rules have a row only if they differ from their defaults. */
export interface FirewallObjectsTable {
  zone_id: string;
  kind: string;
  id: string;
  /** JSON, without id and times. */
  value: string;
  created_on: string;
  modified_on: string;
}

export interface AccountFirewallObjectsTable extends Omit<FirewallObjectsTable, "zone_id"> {
  account_id: string;
}

/** At most one row, whose id is 1. */
export interface CoreRulesTable {
  id: number;
  /** SHA-256 of the files, hexadecimal; empty if control has no Core Rule Set. */
  digest: string;
  version: string;
  /** Of the compiled form: programs of other formats cannot read it. */
  format: number;
  /** Base64 of zstd of the compiled form. */
  program: string;
  modified_on: string;
}
