import { type DatabaseSync } from "node:sqlite";
import type { FacetStore } from "./dictionary-store.ts";

/** A transaction that may add or delete names. */
export function settled<T>(db: DatabaseSync, facets: FacetStore, work: () => T): T {
  let isCommitted = false;
  try {
    const result = transaction(db, work);
    isCommitted = true;
    return result;
  } finally {
    facets.settle(isCommitted);
  }
}

export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
