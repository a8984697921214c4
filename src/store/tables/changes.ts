import type { Generated } from "kysely";

export interface ChangesTable {
  rev: number;
  seq: number;
  kind: string;
  id: string;
  /** JSON, or null for a delete. */
  value: string | null;
}

export interface AuditLogTable {
  id: string;
  at: string;
  action: string;
  actor_type: string;
  actor_id: string;
  actor_ip: string;
  account_id: string | null;
  zone_id: string | null;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
  /** The API date of the call, if it was not the operator's. */
  api_date: string | null;
}

/** `rev` is allocated from one locked row, so commit order is revision order. */
export interface CountersTable {
  name: string;
  value: Generated<number>;
  /** The history of the revisions (history.ts). */
  history: string | null;
  /** The identity of the database on which the history began, as its dialect defines it. */
  identity: string | null;
}

/** Rows to be deleted a few at a time; they are no longer visible. */
export interface RemovalsTable {
  id: string;
  /** `zone`: records and versions of a deleted zone; `parts`: those of a deleted version. */
  kind: string;
  zone_id: string;
  parts_key: number | null;
  created_on: string;
}

/** Values of the installation, sealed with the key file, such as the local CA's key. */
export interface SecretsTable {
  name: string;
  value: string;
  created_on: string;
}
