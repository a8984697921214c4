import type { Call } from "#control/call.ts";
import { removeHostname } from "#control/hostnames/remove-hostname.ts";
import { boundedChunks } from "#control/dns/changes/chunk-bound.ts";
import { auditActor } from "#control/commit.ts";
import { deleteRecords, firstOfZone } from "#store/dns/dns-records.ts";
import { deleteImportFilePart } from "#store/dns/dns-import-jobs.ts";
import { deleteSomeParts, deleteSomeVersions } from "#store/dns/dns-versions.ts";
import { deleteOrdersOfZone } from "#store/certificates/certificate-orders.ts";
import { someHostnamesOfZone } from "#store/hostnames/custom-hostnames.ts";
import { endRemoval, type RemovalRow, someRemovals } from "#store/database/removals.ts";
import { deleteSomeFormerZones } from "#store/zones/former-zones.ts";
import { deleteSomeListStates } from "#store/queries/list-pages.ts";
import { deleteSomeItems } from "#store/rulesets/rule-lists.ts";
import type { Store, Unit } from "#store/database/store.ts";

/** Deletes invisible rows, a few per unit, so that other writes wait for a few rows at most. */
export interface Removals {
  /**
   * Deletes until nothing is left, including rows from before a crash; does nothing if already running. Returns the
   * number of completed removals.
   */
  run(call: Call): Promise<number>;
  /** The same without waiting; failures are left to the next run. */
  wake(call: Call): void;
  /** Deletes what was kept of deleted zones and accounts, once nothing needs it. */
  forget(): Promise<void>;
  /** Resolves when nothing is running; later calls do nothing. */
  close(): Promise<void>;
}

/** Rows per unit: records have nine indexes, and parts of versions many kilobytes. */
const RECORDS_AT_ONCE = 100;
const HOSTNAMES_AT_ONCE = 20;
const VERSIONS_AT_ONCE = 20;
const ITEMS_AT_ONCE = 500;
const REMOVALS_AT_ONCE = 20;
const KEPT_AT_ONCE = 100;

export function createRemovals({ store }: { readonly store: Store }): Removals {
  let running: Promise<number> | null = null;
  let closed = false;

  const runAll = async (call: Call): Promise<number> => {
    for (let finished = 0; ;) {
      const rows = await someRemovals(store.read, REMOVALS_AT_ONCE);
      if (rows.length === 0) return finished;
      for (const row of rows) {
        // Each in its own unit, so that other writes run in between.
        while (!closed && (await store.write((unit) => KINDS[row.kind]!(unit, row, call), { bulkOf: "" })).result);
        if (closed) return finished;
        await store.write(({ db }) => endRemoval(db, row.id));
        finished += 1;
      }
    }
  };
  const run = (call: Call): Promise<number> =>
    (running ??= runAll(call).finally(() => {
      running = null;
    }));
  return {
    run,
    forget: async () => {
      for (const deleteSome of KEPT) while (!closed && (await store.write((unit) => deleteSome(unit), { bulkOf: "" })).result);
    },
    wake: (call) => void run(call).catch(() => {}),
    close: async () => {
      closed = true;
      await running?.catch(() => {});
    },
  };
}

/** Delete some rows; false if none are left. */
const KEPT: readonly ((unit: Unit) => Promise<boolean>)[] = [
  ({ db, clock }) => deleteSomeFormerZones(db, Math.floor(clock.nowMicros() / 1000), KEPT_AT_ONCE),
  ({ db }) => deleteSomeListStates(db, KEPT_AT_ONCE),
];

/** Deletes some rows; false if none are left. */
const KINDS: Readonly<Record<string, (unit: Unit, row: RemovalRow, call: Call) => Promise<boolean>>> = {
  zone: async (unit, { zone_id }, call) => {
    // The names are free already, but the planes still hold the hostnames.
    const hostnames = await someHostnamesOfZone(unit.db, zone_id, HOSTNAMES_AT_ONCE);
    for (const row of hostnames) await removeHostname(unit, call, row);
    if (hostnames.length > 0) return true;
    await deleteOrdersOfZone(unit.db, zone_id);
    const [chunk] = boundedChunks(await firstOfZone(unit.db, zone_id, RECORDS_AT_ONCE), (record) => record);
    if (chunk === undefined) return deleteSomeVersions(unit.db, zone_id, VERSIONS_AT_ONCE);
    const ids = chunk.map(({ id }) => id);
    await deleteRecords(unit.db, ids);
    for (const id of ids) unit.change({ kind: "record", id, value: null });
    unit.audit({
      action: "zone.delete_records",
      actor: auditActor(call),
      account_id: null,
      zone_id,
      resource: { type: "zone", id: zone_id },
      after: { records: ids.length },
    });
    return true;
  },
  list: ({ db }, { zone_id }) => deleteSomeItems(db, zone_id, ITEMS_AT_ONCE),
  import_file: ({ db }, { zone_id }) => deleteImportFilePart(db, zone_id),
  parts: (unit, { zone_id, parts_key }) => deleteSomeParts(unit.db, zone_id, parts_key ?? 0, VERSIONS_AT_ONCE),
};
