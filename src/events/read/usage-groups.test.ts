import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { GroupQuery } from "#events/sql/group-query.ts";
import { openEventQueries } from "./queries.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow } from "#events/testing/rows.ts";

const HOUR = 3_600_000;
const START = 400_000 * HOUR;

const SUMS: Readonly<Record<string, (log: GatewayLogRow) => number>> = {
  tokens_in: (log) => log.tokens_in ?? 0,
  cost: (log) => log.cost ?? 0,
  cached: (log) => Number(log.cached),
  errored: (log) => Number(!log.success),
  tokens_all: (log) => (log.tokens_in ?? 0) + (log.tokens_out ?? 0),
  tokens_in_cached: (log) => (log.cached ? (log.tokens_in ?? 0) : 0),
  tokens_in_uncached: (log) => (log.cached ? 0 : (log.tokens_in ?? 0)),
  tokens_out_cached: (log) => (log.cached ? (log.tokens_out ?? 0) : 0),
  tokens_out_uncached: (log) => (log.cached ? 0 : (log.tokens_out ?? 0)),
};

const row = fc.record({
  at_ms: fc.integer({ min: START - 2 * HOUR, max: START + 3 * HOUR }),
  account_id: fc.constantFrom("a", "b"),
  gateway_id: fc.constantFrom("g", "h"),
  provider: fc.constantFrom("openai", "groq"),
  model: fc.constantFrom("m", "n n"),
  success: fc.boolean(),
  cached: fc.boolean(),
  tokens_in: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
  tokens_out: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
  cost: fc.option(fc.constantFrom(0.5, 1.25), { nil: null }),
});

test("property: counts from hours equal counts from rows, for any window and query", () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-usage-"));
  let run = 0;
  try {
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 30 }),
        fc.subarray(["gateway_id", "provider", "model", "at_ms"] as const),
        fc.option(fc.integer({ min: START - 3 * HOUR, max: START + 2 * HOUR }), { nil: null }),
        fc.option(fc.integer({ min: START - HOUR, max: START + 4 * HOUR }), { nil: null }),
        fc.constantFrom(HOUR, 24 * HOUR),
        (given, columns, from, to, intervalMs) => {
          const path = join(directory, `${run++}.db`);
          const database = openEventDatabase(path);
          const rows = given.map((changes, i) => testGatewayRow({ id: String(i), ...changes }));
          database.insert([packed("gateway_logs", rows)]);
          database.close();
          const queries = openEventQueries(path);
          const query: GroupQuery<"gateway_logs"> = {
            where: [
              { column: "account_id", operator: "eq", value: "a" },
              { column: "model", operator: "ne", value: "other" },
              ...(from === null ? [] : [{ column: "at_ms", operator: "ge", value: from } as const]),
              ...(to === null ? [] : [{ column: "at_ms", operator: "lt", value: to } as const]),
            ],
            by: columns.map((column) => (column === "at_ms" ? { column, intervalMs } : { column })),
            measures: Object.keys(SUMS).map((column) => ({ kind: "sum", column }) as GroupQuery<"gateway_logs">["measures"][number]),
            order: [],
            limit: 1000,
          };
          try {
            const fitting = rows.filter(
              (log) => log.account_id === "a" && log.at_ms >= (from ?? -Infinity) && log.at_ms < (to ?? Infinity),
            );
            const keyOf = (log: GatewayLogRow): string =>
              JSON.stringify(columns.map((column) => (column === "at_ms" ? Math.floor(log.at_ms / intervalMs) * intervalMs : log[column])));
            const expected = Object.entries(Object.groupBy(fitting, keyOf)).map(([key, logs = []]) => [
              key,
              logs.length,
              ...Object.values(SUMS).map((of) => logs.reduce((sum, log) => sum + of(log), 0)),
            ]);
            const found = queries.groups("gateway_logs", query).filter(({ count }) => count > 0);
            assert.deepEqual(
              found.map(({ dimensions, count, measures }) => [JSON.stringify(dimensions), count, ...measures]).sort(),
              expected.sort(),
            );
          } finally {
            queries.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the hourly counts include deleted rows", () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-usage-"));
  try {
    const path = join(directory, "events.db");
    const database = openEventDatabase(path);
    database.insert([packed("gateway_logs", [testGatewayRow({ at_ms: START + 5 }), testGatewayRow({ at_ms: START + HOUR })])]);
    database.deleteBefore(START + HOUR, 10);
    const queries = openEventQueries(path);
    const count = (from: number): number | undefined =>
      queries.groups("gateway_logs", {
        where: [{ column: "at_ms", operator: "ge", value: from }],
        by: [],
        measures: [],
        order: [],
        limit: 1,
      })[0]?.count;
    assert.deepEqual([count(START), count(START + 1)], [2, 1]);
    queries.close();
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
