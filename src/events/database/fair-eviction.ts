import type { DatabaseSync } from "node:sqlite";
import type { BlockTable, Removed } from "#events/blocks/block-tables.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { EVENT_TABLES } from "#events/rows/schema.ts";
import { type TenantUsage, ownerColumns, readTenantUsage, rowSizes } from "./tenant-usage.ts";

/** Deletes rows of the owner that takes the most space (ADR 0053). Must be called within a transaction. */
export interface FairEviction {
  /**
   * Deletes about `rowsMax` of the oldest rows of the largest account's largest part; returns their number, 0 if the
   * database has no rows.
   */
  deleteOldest(rowsMax: number): number;
  /** Approximate bytes of all rows; names and counts take additional room. */
  rowBytes(): number;
}

/** The shares are read again after this time, or when this share of the bytes is gone. */
const READ_EVERY_MS = 300_000;
const GONE_SHARE = 1 / 16;

export function createFairEviction(db: DatabaseSync, blocks: ReadonlyMap<EventTable, BlockTable>, nowMs: () => number): FairEviction {
  const tables = new Map(EVENT_TABLES.map((table) => [table, tableEviction(db, table, blocks.get(table))]));
  let holdings: TenantUsage[] = [];
  let readMs = -Infinity;
  let left = 0;

  const read = (): void => {
    holdings = readTenantUsage(db);
    readMs = nowMs();
    left = totalOf(holdings) * GONE_SHARE;
  };
  const evict = (rowsMax: number): number => {
    for (let largest = largestOf(holdings); largest !== undefined; largest = largestOf(holdings)) {
      const { table, account, place } = largest;
      const removed = tables.get(table)!(account, place, rowsMax);
      largest.bytes = Math.max(0, largest.bytes - removed.bytes);
      left -= removed.bytes;
      if (removed.rows > 0) return removed.rows;
      holdings = holdings.filter((one) => one !== largest);
    }
    return 0;
  };
  const isKnown = (): boolean => Math.abs(nowMs() - readMs) <= READ_EVERY_MS && left > 0;
  return {
    rowBytes: () => {
      if (!isKnown()) read();
      return totalOf(holdings);
    },
    deleteOldest: (rowsMax) => {
      const isFresh = isKnown();
      if (!isFresh) read();
      const rows = evict(rowsMax);
      if (rows > 0 || !isFresh) return rows;
      read();
      return evict(rowsMax);
    },
  };
}

const totalOf = (holdings: readonly TenantUsage[]): number => holdings.reduce((sum, { bytes }) => sum + bytes, 0);

/** The largest part of the largest account. */
function largestOf(holdings: readonly TenantUsage[]): TenantUsage | undefined {
  const totals = new Map<string, number>();
  for (const { account, bytes } of holdings) totals.set(account, (totals.get(account) ?? 0) + bytes);
  const most = totals.values().reduce((largest, bytes) => Math.max(largest, bytes), 0);
  return holdings
    .filter(({ account }) => totals.get(account) === most)
    .reduce<TenantUsage | undefined>((a, b) => (a !== undefined && a.bytes >= b.bytes ? a : b), undefined);
}

type Evict = (account: string, place: readonly (string | number)[], rowsMax: number) => Removed;

function tableEviction(db: DatabaseSync, table: EventTable, blocks: BlockTable | undefined): Evict {
  const where = ownerColumns(table)
    .map((column) => `${column} = ?`)
    .join(" AND ");
  const oldest = db.prepare(`SELECT MIN(at_ms) AS at_ms FROM ${table} WHERE ${where}`);
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE row_id IN (SELECT row_id FROM ${table} WHERE ${where} AND at_ms <= ? ORDER BY at_ms LIMIT ?)`,
  );
  const sites = db.prepare("SELECT id FROM facet_site WHERE account_id = ?");
  const sizeOf = rowSizes(db, table);
  return (account, place, rowsMax) => {
    const [site] = place;
    const blockMs = blocks === undefined || typeof site !== "number" ? undefined : blocks.oldestOf(site);
    const rowMs = oldest.get(...place)?.["at_ms"];
    if (blockMs !== undefined && (typeof rowMs !== "number" || rowMs > blockMs)) {
      const gone = new Set(sites.all(account).map(({ id }) => Number(id)));
      return blocks!.deleteOldestOf(site as number, gone, rowsMax);
    }
    const size = sizeOf(place);
    const rows = Number(remove.run(...place, blockMs ?? Number.MAX_SAFE_INTEGER, rowsMax).changes);
    return { rows, bytes: rows * size };
  };
}
