import type { Generated } from "kysely";

export interface DnsRecordsTable {
  id: string;
  zone_id: string;
  /** Absolute owner name, lower case, no trailing dot. */
  name: string;
  type: string;
  /** In the API's format. */
  content: string;
  /** White space and quotes normalized, lower case: compared by filters and the duplicate check. */
  content_key: string;
  /** JSON, or null for types without structured content. */
  data: string | null;
  priority: number | null;
  /** 1 = automatic. */
  ttl: number;
  proxied: number;
  settings: string;
  comment: string | null;
  tags: string;
  /** Uncompressed RDATA, base64. */
  rdata: string;
  comment_modified_on: string | null;
  tags_modified_on: string | null;
  created_on: string;
  modified_on: string;
  /** For filters only; derived in store/dns/record-keys.ts. */
  name_reversed: string;
  content_head: string;
  content_reversed: string;
  comment_key: string | null;
  comment_head: string | null;
  comment_reversed: string | null;
  commented: number;
  tagged: number;
}

/** One row per tag of a record, deleted with the record; for filters only. */
export interface DnsRecordTagsTable {
  record_id: string;
  zone_id: string;
  tag_key: string;
  tag_reversed: string;
  record_name: string;
  /** 1 if the record has several tags of one name. */
  repeated: number;
}

/** Number of a zone's records per facet; see store/dns/record-counts.ts. */
export interface DnsRecordCountsTable {
  zone_id: string;
  facet: string;
  count: number;
}

/** Candidates of a scan that have been neither accepted nor rejected. */
export interface DnsScanCandidatesTable {
  id: string;
  zone_id: string;
  /** The row that the record would have, as JSON. */
  record: string;
}

/** Large changes in progress, at most one per zone. */
export interface DnsImportsTable {
  zone_id: string;
  id: string;
  /** `import`, which keeps existing records, or the kind of change that undoes, restores or transfers. */
  kind: Generated<string>;
  /** When it last wrote something. */
  touched_on: string;
  /** The last unit that is done, from 1. */
  unit: Generated<number>;
  /** The run that did it: a unit may run again, because the report of its commit was lost. */
  run: Generated<number>;
}

export interface DnsVersionsTable {
  zone_id: string;
  /** The zone's serial after the write. */
  version: number;
  created_on: string;
  /** JSON: type, id and name. */
  actor: string;
  /** The kind of write: `create`, `batch`, `revert` and so on. */
  kind: string;
  /** The version that a `revert` undid, or that a `restore` returned to. */
  refers_to: number | null;
  reason: string | null;
  /** Records that the write created, updated and deleted. */
  created: number;
  updated: number;
  deleted: number;
  /** JSON array of the first changes, each `{ before, after }`; further ones are in `dns_version_parts`. */
  changes: string;
  /** The version's key in `dns_version_parts`; null: its number. */
  parts_key: Generated<number | null>;
}

/** Imports that continue after their request. */
export interface DnsImportJobsTable {
  id: string;
  zone_id: string;
  account_id: string;
  /** `receiving` until its file is complete, then `queued`, `running`, `done` or `failed`. */
  status: string;
  proxied: number;
  /** Number of records in the file, and how many have been processed. */
  total: number;
  records: number;
  /** Number of records that were new to the zone, once it is done. */
  added: number;
  /** JSON: the actor who requested it. */
  actor: string;
  reason: string | null;
  /** JSON: the error as the API returns it. */
  error: string | null;
  on_error: string;
  /** JSON: lines that were changed or skipped. */
  report: string | null;
  created_on: string;
  touched_on: string;
  finished_on: string | null;
}

export interface DnsImportFilesTable {
  job_id: string;
  part: number;
  content: string;
}

export interface DnsVersionPartsTable {
  zone_id: string;
  version: number;
  /** From 1 on. */
  part: number;
  changes: string;
}

/** The state of the zone's DNSSEC: `DnssecLife` of model/dns/dnssec-life.ts, with times as ISO text. */
export interface ZoneDnssecTable {
  zone_id: string;
  status: string;
  status_since: string;
  rollover: string;
  rollover_since: string;
  /** Ids of keys, JSON. */
  ds_named: string;
  /** Tags of the parent's DS records that match none of the zone's keys, JSON. */
  ds_others: string;
  ds_since: string;
  ds_ttl: number;
  /** When the parent was last checked; empty before. */
  looked_on: string;
  /** Why the last check failed; empty if it succeeded. */
  look_failure: string;
  /** Failures since the last successful check. */
  look_failures: number;
  next_look_on: string;
  /** When the serial was last raised so that other servers fetch new signatures. */
  refetch_on: string;
  multi_signer: number;
  modified_on: string;
}

/** Keys of zones: one, or two during a rollover. */
export interface ZoneDnssecKeysTable {
  id: string;
  zone_id: string;
  /** As in a DNSKEY record, base64. */
  public_key: string;
  /** PKCS #8 PEM, sealed, context `dnssec:{id}`. */
  private_key: string;
  created_on: string;
}

/** ACLs, peers and TSIG keys of an account. */
export interface TransferObjectsTable {
  id: string;
  account_id: string;
  /** `acl`, `peer` or `tsig`. */
  kind: string;
  /** The object as JSON, without its id; a TSIG's secret sealed, context `tsig:{id}`. */
  value: string;
  created_on: string;
}

export interface ZoneTransfersTable {
  zone_id: string;
  /** `incoming` or `outgoing`. */
  direction: string;
  id: string;
  settings: string;
  created_on: string;
  modified_on: string;
}

/** The state of a secondary zone. Times are milliseconds since 1970. */
export interface IncomingTransferStatesTable {
  zone_id: string;
  /** A running check moves this into the future, so that no other node takes the zone. */
  next_check_ms: number;
  /** 1: the next check transfers the whole zone, whatever its serial. */
  forced: number;
  /** Consecutive checks without an answer from any peer. */
  failures: number;
  checked_ms: number | null;
  /** When a peer last confirmed that our copy is current; the zone's expiry counts from here. */
  confirmed_ms: number | null;
  transferred_ms: number | null;
  /** `AXFR` or `IXFR`. */
  method: string | null;
  peer_id: string | null;
  last_error: string | null;
}
