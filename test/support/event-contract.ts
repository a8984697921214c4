import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { EventReads } from "#events/read/read-client.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import type { EventMatch, RequestRow, SecurityEventRow } from "#events/rows/rows.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import type { Where } from "#events/sql/where-sql.ts";
import { packed, packedRequests, testRequestEvent, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { anyQuery, anyRequest, anyWhere, counted, holds, HOUR_MS, START_MS } from "./any-requests.ts";
import { fc } from "./property.ts";

/** A store of events without rows. */
export interface EmptyEvents {
  /** Stores the rows; queries find them once it resolves. */
  insert(tables: readonly PackedRows[]): Promise<void>;
  readonly reads: EventReads;
}

const SEED = 20_261_122;
const ZONE = { column: "zone_id", operator: "eq", value: "zone" } as const;

/** Tests of every store of events: the embedded database and ClickHouse both run them. */
export function testEventContract(
  name: string,
  open: (t: TestContext) => Promise<EmptyEvents>,
  { skip = false, share = 1 }: { readonly skip?: string | false; readonly share?: number } = {},
): void {
  const contract = (title: string, work: (events: EmptyEvents) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip }, async (t) => work(await open(t)));
  };

  contract("property: groups equal those of the rows", async ({ insert, reads }) => {
    const rows = fc.sample(anyRequest, { seed: SEED, numRuns: 700 });
    for (let at = 0; at < rows.length; at += 100) await insert([packed("requests", rows.slice(at, at + 100))]);
    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        const groups = (await reads.groups("requests", query)).map(
          ({ count, dimensions, measures }) => [JSON.stringify(dimensions), [count, ...measures]] as const,
        );
        assert.deepEqual(new Map(groups.toSorted()), new Map([...counted(rows, query)].toSorted()));
      }),
      { numRuns: 400 * share },
    );
  });

  contract("property: groups are returned in the requested order", async ({ insert, reads }) => {
    await insert([packed("requests", fc.sample(anyRequest, { seed: SEED, numRuns: 300 }))]);
    const measures = [{ kind: "sum", column: "duration_ms" }] as const;
    const orders = fc.constantFrom<GroupQuery["order"][number]["by"]>("count", 0, { measure: 0 }, { measure: 0, isPerRow: true });
    await fc.assert(
      fc.asyncProperty(orders, fc.boolean(), fc.constantFrom<[] | ["unique"]>([], ["unique"]), async (by, isDescending, each) => {
        const asked = [...measures, ...each.map((kind) => ({ kind, column: "client_ip" }) as const)];
        const order = [{ by, direction: isDescending ? "desc" : "asc" } as const];
        const query = { where: [], by: [{ column: "at_ms", intervalMs: 600_000 }], measures: asked, order, limit: 100 } as const;
        const values = (await reads.groups("requests", query)).map(({ count, dimensions: [time], measures: [sum = 0] }) => {
          if (by === "count") return count;
          if (by === 0) return Number(time);
          return typeof by === "object" && by.isPerRow ? sum / count : sum;
        });
        assert.deepEqual(
          values,
          values.toSorted((a, b) => (isDescending ? b - a : a - b)),
        );
        assert.ok(values.length > 20);
      }),
      { numRuns: 20 },
    );
  });

  contract("groups of rows without a value come before those with one", async ({ insert, reads }) => {
    await insert([
      packed(
        "requests",
        [null, 500, 200, null].map((origin_status) => testRequestRow({ origin_status })),
      ),
    ]);
    const found = async (direction: "asc" | "desc") => {
      const order = [{ by: 0, direction }] as const;
      const groups = await reads.groups("requests", { where: [ZONE], by: [{ column: "origin_status" }], measures: [], order, limit: 9 });
      return groups.map(({ dimensions: [status], count }) => [status, count]);
    };
    assert.deepEqual(await found("asc"), [
      [null, 2],
      [200, 1],
      [500, 1],
    ]);
    assert.deepEqual((await found("desc")).at(-1), [null, 2]);
    const without = await reads.groups("requests", { where: [{ ...ZONE, value: "other" }], by: [], measures: [], order: [], limit: 1 });
    assert.deepEqual(without, [], "no rows are no group");
  });

  contract("property: pages by cursor contain every matching row once, newest first", async ({ insert, reads }) => {
    // Few moments, so that pages end among rows of one time.
    const rows = fc
      .sample(anyRequest, { seed: SEED, numRuns: 300 })
      .map((row, i) => ({ ...row, at_ms: START_MS + (i % 7), ray_id: `${i}` }));
    await insert([packed("requests", rows)]);
    const read = async (where: Where<"requests">, limit: number, direction: "asc" | "desc"): Promise<readonly string[]> => {
      const found: string[] = [];
      let after: { at_ms: number; row_id: number } | undefined;
      for (let pages = 0; pages < 400; pages++) {
        const page = await reads.page("requests", { where, after, limit, direction });
        found.push(...page.rows.map((row) => row.ray_id));
        if (!page.hasMore || page.last === null) break;
        after = page.last;
      }
      return found;
    };
    await fc.assert(
      fc.asyncProperty(anyWhere, fc.integer({ min: 20, max: 90 }), fc.boolean(), async (where, limit, isUp) => {
        const wanted = rows
          .filter((row) => holds(row, where))
          .toSorted((a, b) => b.at_ms - a.at_ms || Number(b.ray_id) - Number(a.ray_id))
          .map((row) => row.ray_id);
        assert.deepEqual(await read(where, limit, isUp ? "asc" : "desc"), isUp ? wanted.toReversed() : wanted);
        const page = await reads.page("requests", { where, limit, offset: 10 });
        assert.deepEqual(
          page.rows.map((row) => row.ray_id),
          wanted.slice(10, 10 + limit),
        );
      }),
      { numRuns: 60 },
    );
  });

  contract("property: rows come back as they were written", async ({ insert, reads }) => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    const anyRow: fc.Arbitrary<RequestRow> = fc
      .record({
        ...{ client_ip: text, method: text, host: text, path: text, query: text, user_agent: text, content_type: text },
        at_ms: fc.integer({ min: START_MS, max: START_MS + 3 * 24 * HOUR_MS }),
        origin_status: fc.option(fc.integer({ min: 0, max: 999 })),
        bytes_out: fc.maxSafeNat(),
        duration_ms: fc.double({ min: 0, max: 1e6, noNaN: true }),
        custom_fields: fc.option(
          fc.dictionary(
            text.filter((key) => key !== "__proto__"),
            fc.jsonValue(),
          ),
        ) as fc.Arbitrary<never>,
      })
      .map((changes) => testRequestRow(changes));
    const rows = fc.sample(anyRow, { seed: SEED, numRuns: 200 }).map((row, i) => ({ ...row, ray_id: `${i}` }));
    await insert([packed("requests", rows)]);
    const found = await reads.page("requests", { where: [ZONE], limit: 500 });
    assert.equal(found.rows.length, rows.length);
    const byRay = (a: RequestRow, b: RequestRow): number => Number(a.ray_id) - Number(b.ray_id);
    for (const [i, row] of found.rows.toSorted(byRay).entries())
      assert.deepEqual(JSON.parse(JSON.stringify(row)), JSON.parse(JSON.stringify(rows[i])));
  });

  contract("property: no filter reaches the rows of another zone", async ({ insert, reads }) => {
    const rows = ["zone", "zone' OR '1'='1", "other\\"].flatMap((zone_id) => [0, 1, 2].map(() => testRequestRow({ zone_id })));
    await insert([packed("requests", rows)]);
    const hostile = fc.oneof(
      fc.constantFrom("' OR 1=1 --", "\\' OR 1=1 --", "{p0:String}", "x') OR (1=1", "%", "\0", "\\", "/*", "zone' OR '1'='1"),
      fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.toWellFormed()),
    );
    const operator = fc.constantFrom("eq", "ne", "has", "like", "not_like", "gt", "le", "within");
    const condition = fc.record({ column: fc.constantFrom("path", "host", "zone_id", "client_ip"), operator, value: hostile });
    const list = fc.record({
      column: fc.constant("path"),
      operator: fc.constantFrom("in", "not_in"),
      value: fc.array(hostile, { maxLength: 3 }),
    });
    const filter = fc.oneof(condition, list) as fc.Arbitrary<never>;
    const alternatives = fc.array(fc.array(filter, { maxLength: 2 }), { maxLength: 3 }).map((any) => ({ any }));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("zone", "other\\"),
        fc.array(fc.oneof(filter, alternatives), { maxLength: 3 }),
        async (zone, filters) => {
          const where = [{ column: "zone_id", operator: "eq", value: zone }, ...filters] as Where<"requests">;
          const page = await reads.page("requests", { where, limit: 100 });
          assert.ok(page.rows.every((row) => row.zone_id === zone));
          const groups = await reads.groups("requests", { where, by: [{ column: "zone_id" }], measures: [], order: [], limit: 100 });
          assert.ok(groups.every(({ dimensions: [name] }) => name === zone));
          assert.equal(groups[0]?.count ?? 0, page.rows.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  contract("rows that arrive are read in their order, and those that a reader is too far behind are counted", async ({ insert, reads }) => {
    const rays = (from: number, count: number): RequestRow[] =>
      // Their times go back, and every other one is of another zone.
      Array.from({ length: count }, (_, i) =>
        testRequestRow({ ray_id: `${from + i}`, at_ms: START_MS - from - i, zone_id: i % 2 === 0 ? "zone" : "other" }),
      );
    const bounds = { rowsMax: 100, unitsMax: 1e6, lookedAtMax: 1_000, behindMax: 1_000 };
    const look = (afterRow: number, changes = {}) => reads.arrivals("requests", { where: [ZONE], afterRow, ...bounds, ...changes });
    await insert([packed("requests", rays(0, 20))]);
    const begun = await reads.lastRow("requests");
    assert.ok(begun > 0);
    assert.deepEqual((await look(begun)).rows, []);
    await insert([packed("requests", rays(20, 40))]);
    await insert([packed("requests", rays(60, 2))]);
    const wanted = Array.from({ length: 21 }, (_, i) => `${20 + 2 * i}`);
    const all = await look(begun);
    assert.deepEqual(
      all.rows.map((row) => row.ray_id),
      wanted,
    );
    assert.ok(!all.hasMore && all.passedOver === 0);
    assert.deepEqual((await look(all.lastRow)).rows, []);
    const found: string[] = [];
    for (let [afterRow, hasMore] = [begun, true]; hasMore;) {
      const part = await look(afterRow, { rowsMax: 5 });
      found.push(...part.rows.map((row) => row.ray_id));
      [afterRow, hasMore] = [part.lastRow, part.hasMore];
    }
    assert.deepEqual(found, wanted);
    assert.equal((await look(begun, { unitsMax: 1 })).rows.length, 1, "one row regardless of its length");
    const late = await look(begun, { behindMax: 4 });
    assert.ok(late.passedOver > 0 && late.rows.length + late.passedOver === wanted.length);
    assert.equal(late.rows.at(-1)?.ray_id, "60");
  });

  contract("events of requests are separate rows, and are found by their id", async ({ insert, reads }) => {
    const event = testRequestEvent({
      rule_id: "rule-1",
      matches: [{ detector: "x", rule_id: "rule-1", count: 1, offset: 0, confidence: "low" }],
    });
    await insert([
      packedRequests([
        [testRequestRow({ ray_id: "a", path: "/a" }), [event]],
        [testRequestRow({ ray_id: "b" }), []],
        [testRequestRow({ ray_id: "c", path: "/c" }), [event, testRequestEvent({ rule_id: "rule-2" })]],
      ]),
    ]);
    const { rows } = await reads.page("security_events", { where: [ZONE], limit: 10 });
    assert.deepEqual(rows.map(({ ray_id, rule_id, path }) => `${ray_id} ${rule_id} ${path}`).toSorted(), [
      "a rule-1 /a",
      "c rule-1 /c",
      "c rule-2 /c",
    ]);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 3);
    for (const row of rows) {
      const one = await reads.page("security_events", { where: [ZONE, { column: "id", operator: "eq", value: row.id }], limit: 1 });
      assert.deepEqual(one.rows, [row]);
    }
    assert.equal((await reads.page("requests", { where: [ZONE], limit: 10 })).rows.length, 3);
  });

  contract("queries of the nameserver count as many as each row stands for", async ({ insert, reads }) => {
    const query = { account_id: "account", zone_id: "zone", query_name: "www.example.com", response_code: "NOERROR", protocol: "UDP" };
    const bytes = { ip_version: 4, source_ip: "192.0.2.1", query_bytes: 10, response_bytes: 100 };
    const rows = [1, 10, 5].map((sample_interval, i) => ({
      ...{ ...query, ...bytes, at_ms: START_MS + i, sample_interval },
      query_type: i === 1 ? "AAAA" : "A",
    }));
    await insert([packed("dns_queries", rows)]);
    const groups = await reads.groups("dns_queries", {
      where: [ZONE],
      by: [{ column: "query_type" }],
      measures: [{ kind: "sum", column: "response_bytes" }],
      order: [{ by: "count", direction: "desc" }],
      limit: 10,
    });
    assert.deepEqual(
      groups.map(({ dimensions: [type], count, measures: [sum] }) => [type, count, sum]),
      [
        ["AAAA", 10, 1000],
        ["A", 6, 600],
      ],
    );
  });

  contract("values of sensitive data are counted by their hash", async ({ insert, reads }) => {
    const match = (value_hash: string, changes: Partial<EventMatch> = {}): EventMatch => ({
      ...{ detector: "fin.iban", rule_id: "rule", count: 1, offset: 5, confidence: "medium", value_hash },
      ...changes,
    });
    const event = (id: string, at: number, matches: readonly EventMatch[], changes: Partial<SecurityEventRow> = {}): SecurityEventRow =>
      testSecurityRow({ id, at_ms: START_MS + at, matches, ...changes });
    await insert([
      packed("security_events", [
        event("1", 0, [match("aa"), match("aa", { rule_id: "other", confidence: "high" })]),
        event("2", 5_000, [match("aa", { json_path: "$.iban" }), match("bb")], { host: "api.example.com", path: "/last" }),
        event("3", HOUR_MS, [match("bb", { confidence: "low" })]),
        event("4", 2 * HOUR_MS, [match("cc")]),
        event("5", 1_000, [{ ...match("dd"), value_hash: undefined as never }]),
        event("6", 1_000, [match("aa")], { zone_id: "other" }),
      ]),
    ]);
    const query = { where: [ZONE], fromMs: START_MS, toMs: START_MS + 2 * HOUR_MS, hash: null, limit: 10 } as const;
    const { values, ...period } = await reads.values("security_events", query);
    assert.deepEqual(period, { fromMs: query.fromMs, toMs: query.toMs, events: 3 });
    assert.deepEqual(
      values.map(({ finders, ...value }) => ({ ...value, finders: [...finders].toSorted() })),
      [
        {
          ...{ value_hash: "bb", events: 2, first_ms: START_MS + 5_000, last_ms: START_MS + HOUR_MS, confidence: 1 },
          place: { host: "www.example.com", path: "/" },
          finders: ["rule fin.iban"],
        },
        {
          ...{ value_hash: "aa", events: 2, first_ms: START_MS, last_ms: START_MS + 5_000, confidence: 2 },
          place: { host: "api.example.com", path: "/last", json_path: "$.iban" },
          finders: ["other fin.iban", "rule fin.iban"],
        },
      ],
    );
    const one = await reads.values("security_events", { ...query, hash: "aa" });
    assert.deepEqual([one.events, one.values.map(({ value_hash }) => value_hash)], [2, ["aa"]]);
  });
}
