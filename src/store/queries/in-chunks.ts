import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "./tables.ts";

type Db = Kysely<Tables>;
type TableName = keyof Tables & string;

/** Rows per statement, which runs without a pause. */
export const CHUNK_ROWS = 100;
/** Rows per statement if they contain whole documents. */
const PIECE_DOCUMENTS = 10;

export interface MatchingRows {
  readonly table: TableName;
  /** The primary key. */
  readonly key: readonly string[];
  readonly where: RawBuilder<unknown>;
}

/**
 * Deletes all matching rows in several statements; the unit's session yields to the event loop between them. Delete
 * referring rows first (`deleteOwned`), because a cascade runs without a pause.
 */
export async function deleteInChunks(db: Db, { table, key, where }: MatchingRows, atOnce = CHUNK_ROWS): Promise<void> {
  await inPieces(db, sql`DELETE FROM ${sql.table(table)}`, { table, key, where }, atOnce);
}

/** Updates in the same way; after the update, a row must no longer match. */
export async function updateInChunks(db: Db, { set, ...rows }: MatchingRows & { readonly set: RawBuilder<unknown> }): Promise<void> {
  await inPieces(db, sql`UPDATE ${sql.table(rows.table)} SET ${set}`, rows, CHUNK_ROWS);
}

async function inPieces(db: Db, verb: RawBuilder<unknown>, { table, key, where }: MatchingRows, atOnce: number): Promise<void> {
  const some = sql`SELECT ${listed(key)} FROM ${sql.table(table)} WHERE ${where} LIMIT ${sql.lit(atOnce)}`;
  const piece = sql`${verb} WHERE ${columns(key)} IN (${some})`;
  for (;;) {
    const { numAffectedRows = 0n } = await piece.execute(db);
    if (numAffectedRows < BigInt(atOnce)) return;
  }
}

/** Deletes the rows that a cascade would delete with the matching rows, in chunks. The matching rows themselves stay. */
export async function deleteOwned(db: Db, owner: TableName, where: RawBuilder<unknown>): Promise<void> {
  for (const { table, key, by, of = ["id"], holdsDocuments = false } of OWNED[owner] ?? []) {
    const owned = sql`${columns(by)} IN (SELECT ${listed(of)} FROM ${sql.table(owner)} WHERE ${where})`;
    await deleteOwned(db, table, owned);
    await deleteInChunks(db, { table, key, where: owned }, holdsDocuments ? PIECE_DOCUMENTS : CHUNK_ROWS);
  }
}

const listed = (names: readonly string[]): RawBuilder<unknown> => sql.join(names.map((name) => sql.ref(name)));
const columns = (names: readonly string[]): RawBuilder<unknown> => sql`(${listed(names)})`;

export interface Owned {
  readonly table: TableName;
  /** The primary key. */
  readonly key: readonly string[];
  /** The referring columns, and the owner's columns that they refer to; default `id`. */
  readonly by: readonly string[];
  readonly of?: readonly string[];
  readonly holdsDocuments?: true;
}

const ID = ["id"];
const ofZone = (table: TableName, key: readonly string[] = ID): Owned => ({ table, key, by: ["zone_id"] });
const ofAccount = (table: TableName, key: readonly string[] = ID): Owned => ({ table, key, by: ["account_id"] });
const ofGateway = (table: TableName): Owned => ({ table, key: ID, by: ["account_id", "gateway_id"], of: ["account_id", "id"] });

/** For each owner, the tables that may have any number of its rows, which are deleted with it. */
export const OWNED: Readonly<Partial<Record<TableName, readonly Owned[]>>> = {
  accounts: [
    ...(["rule_lists", "rule_list_operations", "gateway_objects", "account_sensitive_data_objects"] as const).map((table) =>
      ofAccount(table),
    ),
    ...(["notification_silences", "notification_deliveries", "notification_policies", "notification_webhooks"] as const).map((table) =>
      ofAccount(table),
    ),
    ofAccount("access_apps"),
    ofAccount("account_firewall_objects", ["account_id", "kind", "id"]),
    ofAccount("accelerators"),
    ofAccount("images", ["account_id", "id"]),
    ofAccount("image_variants", ["account_id", "id"]),
    ofAccount("image_keys", ["account_id", "name"]),
    ofAccount("logpush_jobs"),
    ofAccount("recorded_calls", ["account_id", "day", "token_id", "route", "shape_hash"]),
    ofAccount("deprecation_notices", ["account_id", "deprecation_id", "days_left"]),
    ofAccount("gateway_domains", ["hostname"]),
    ofAccount("tunnels"),
    ofAccount("hostname_issuance_times", ["account_id", "at_ms"]),
  ],
  zones: [
    ofZone("custom_certificates"),
    ofZone("certificate_packs"),
    ofZone("dns_scan_candidates"),
    ofZone("dns_record_counts", ["zone_id", "facet"]),
    ofZone("dns_import_jobs"),
    ofZone("sensitive_data_objects"),
    ofZone("firewall_objects", ["zone_id", "kind", "id"]),
    ofZone("access_apps"),
    ofZone("page_resources", ["zone_id", "id"]),
    ofZone("gateway_domains", ["hostname"]),
  ],
  dns_records: [{ table: "dns_record_tags", key: ["record_id", "tag_key"], by: ["record_id"] }],
  dns_import_jobs: [{ table: "dns_import_files", key: ["job_id", "part"], by: ["job_id"], holdsDocuments: true }],
  custom_hostnames: [{ table: "custom_hostname_certificates", key: ID, by: ["custom_hostname_id"] }],
  rulesets: [{ table: "ruleset_versions", key: ["ruleset_id", "version"], by: ["ruleset_id"], holdsDocuments: true }],
  gateways: [ofGateway("gateway_datasets"), ofGateway("gateway_evaluations")],
  notification_policies: [
    { table: "notification_silences", key: ID, by: ["policy_id"] },
    { table: "notification_spikes", key: ["policy_id", "subject"], by: ["policy_id"] },
  ],
  users: [
    { table: "sessions", key: ID, by: ["user_id"] },
    { table: "sign_in_challenges", key: ["hash"], by: ["user_id"] },
    { table: "user_identities", key: ["issuer", "subject"], by: ["user_id"] },
    { table: "user_passkeys", key: ID, by: ["user_id"] },
  ],
  tokens: [{ table: "sessions", key: ID, by: ["token_id"] }],
};
