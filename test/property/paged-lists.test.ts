import assert from "node:assert/strict";
import { type Insertable, sql } from "kysely";
import type { Page, PageRequest } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { systemClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { type CountedList, listState } from "#store/queries/list-pages.ts";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import { type ControlFixture, controlOver } from "../support/control.ts";
import { storeTest } from "../support/store.ts";

// Lists whose pages begin where others ended and whose totals nobody counts, beside a plain sort of all their rows: while rows
// come, change and go, in any order of pages.

const GATEWAY = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: false,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

const ROWS = 1_300;
const AT_ONCE = 100;
const PER_PAGE = 40;

interface Listed {
  readonly table: CountedList;
  /** A row like another one, at another place of the list; numbers ask for places. */
  clone(row: Record<string, unknown>, n: number): Record<string, unknown>;
  /** Sort keys of lists; the last one is unique. */
  readonly order: readonly string[];
  readonly descends: boolean;
  /** Null where rows never change. */
  readonly change: string | null;
  list(control: Control, ids: Ids, page: PageRequest): Promise<Page<{ readonly id: string }>>;
}

interface Ids {
  readonly account_id: string;
  readonly zone: { readonly id: string; readonly account_id: string; readonly name: string };
  call: ControlFixture["call"];
}

/** Places all over the list, some of them shared. */
const scattered = (n: number): string => String((n * 7919) % 997).padStart(4, "0");

const LISTS: readonly Listed[] = [
  {
    table: "zones",
    clone: (row, n) => ({ ...row, id: newId(), name: `n${scattered(n)}-${n}.example` }),
    order: ["name", "id"],
    descends: false,
    change: "name = 'changed-' || name",
    list: (control, { call }, page) => control.zones.list(call(), {}, page),
  },
  {
    table: "custom_hostnames",
    clone: (row, n) => ({ ...row, id: newId(), hostname: `h${n}.example`, created_at: `2026-01-01T00:00:00.${scattered(n)}00Z` }),
    order: ["created_at", "id"],
    descends: false,
    change: "created_at = '2025' || substr(created_at, 5)",
    list: (control, { zone }, page) => control.customHostnames.list(zone as never, {}, page),
  },
  {
    table: "gateways",
    clone: (row, n) => ({ ...row, id: `g${n}`, created_at: `2026-01-01T00:00:00.${scattered(n)}00Z` }),
    order: ["created_at", "id"],
    descends: true,
    change: "created_at = '2025' || substr(created_at, 5)",
    list: (control, { account_id }, page) => control.gateways.list(account_id, {}, page),
  },
  {
    table: "audit_log",
    clone: (row, n) => ({ ...row, id: `${scattered(n)}${String(n).padStart(22, "0")}` }),
    order: ["id"],
    descends: true,
    change: null,
    list: (control, { account_id }, page) => control.access.auditLogs.list(account_id, {}, page),
  },
];

const rowsOf = (store: Store, table: CountedList): Promise<Record<string, unknown>[]> => store.read.selectFrom(table).selectAll().execute();

async function insertAll(store: Store, table: CountedList, rows: readonly Record<string, unknown>[]): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE)
    await store.write(async ({ db }) => {
      await db
        .insertInto(table)
        .values(rows.slice(at, at + AT_ONCE) as unknown as Insertable<Tables[typeof table]>[])
        .execute();
    });
}

const compare = (a: unknown, b: unknown): number => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));

async function checkPages(store: Store, control: Control, ids: Ids, listed: Listed, pages: readonly number[]): Promise<void> {
  const { table, order, descends } = listed;
  const own = (await rowsOf(store, table)).filter((row) => table !== "audit_log" || row["account_id"] === ids.account_id);
  const sorted = own.toSorted((a, b) => order.map((column) => compare(a[column], b[column])).find((n) => n !== 0) ?? 0);
  const all = (descends ? sorted.toReversed() : sorted).map(({ id }) => id);
  for (const page of pages) {
    const found = await listed.list(control, ids, { page, per_page: PER_PAGE });
    const says = `${table}, page ${page}`;
    assert.deepEqual(
      found.items.map(({ id }) => id),
      all.slice((page - 1) * PER_PAGE, page * PER_PAGE),
      says,
    );
    assert.equal(found.total_count, all.length, says);
  }
}

storeTest("pages of a changing list equal a plain sort, and totals equal a count", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { clock: systemClock });
  const zone = await control.zones.create(call(), { name: "first.example", account: { id: account_id } });
  await control.gateways.create(call(), account_id, { id: "first", ...GATEWAY });
  const ref = { ...zone, account_id };
  await control.customHostnames.create(
    call(),
    ref as never,
    { hostname: "shop.customer.test", ssl: { method: "http", type: "dv" } } as never,
  );
  const ids: Ids = { account_id, zone: ref, call };
  for (const listed of LISTS) {
    const { table, change } = listed;
    const template = (await rowsOf(store, table)).find((row) => row["account_id"] === undefined || row["account_id"] === account_id);
    assert.ok(template);
    await insertAll(
      store,
      table,
      Array.from({ length: ROWS }, (_, n) => listed.clone(template, n)),
    );
    const last = Math.ceil(ROWS / PER_PAGE);
    await checkPages(store, control, ids, listed, [1, 2, 14, 15, 16, 28, 29, 30, last, last + 1, last + 2, 20, 1]);
    const some = (n: number) => sql`(SELECT id FROM ${sql.table(table)} WHERE id <> ${template["id"]} ORDER BY id LIMIT ${n})`;
    const steps = [
      sql`DELETE FROM ${sql.table(table)} WHERE id IN ${some(7)}`,
      ...(change === null ? [] : [sql`UPDATE ${sql.table(table)} SET ${sql.raw(change)} WHERE id IN ${some(60)}`]),
    ];
    for (const step of steps) {
      await store.write(({ db }) => step.execute(db));
      await checkPages(store, control, ids, listed, [15, 16, 29, 30, last]);
    }
  }
  // Rows deleted with their zone are counted too.
  await store.write(({ db }) => db.deleteFrom("custom_hostnames").where("hostname", "like", "h1%").execute());
  for (const { table } of LISTS) {
    const { rows } = await listState(store.read, table, null);
    const { total } = await store.read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as("total"))
      .where(table === "custom_hostnames" ? "zone_id" : "account_id", "is not", null)
      .executeTakeFirstOrThrow();
    assert.equal(rows, Number(total), table);
  }
  await control.zones.delete(call(), zone.id);
  await control.removals.run(call());
  assert.equal((await listState(store.read, "custom_hostnames", [zone.id])).rows, 0);
});
