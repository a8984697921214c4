import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openEventDatabase } from "#events/database/database.ts";
import { numberRows } from "#events/rows/packed-rows.ts";
import { packed, testSecurityRow } from "#events/testing/rows.ts";
import { createValueCounts, VALUE_HOUR_MS as HOUR_MS } from "./values.ts";

/** 2026-11-01T00:00:00Z. */
const DAY_ONE = 1_793_491_200_000;
const MATCH = { detector: "card", rule_id: "1".repeat(32), count: 1, offset: 0, confidence: "high" } as const;

test("the site with most values loses its oldest hours, and no value counts by halves", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-values-"));
  t.after(() => rm(directory, { recursive: true }));
  const database = openEventDatabase(join(directory, "events.db"));
  t.after(() => database.close());
  const db = new DatabaseSync(join(directory, "events.db"));
  t.after(() => db.close());
  const counts = createValueCounts(db, 50);
  const add = (zone_id: string, from: number, count: number): void => {
    const rows = Array.from({ length: count }, (_, n) =>
      testSecurityRow({
        zone_id,
        at_ms: DAY_ONE + (from + n) * HOUR_MS,
        matches: [{ ...MATCH, value_hash: String(from + n).padStart(32, "0") }],
      }),
    );
    const numbered = numberRows(packed("security_events", rows), (_facet, texts) => (texts.includes("zone") ? 1 : 2));
    counts.add([numbered]);
  };
  add("other", 0, 5);
  add("zone", 0, 40);
  const entries = db.prepare("SELECT site, entries, since_ms FROM value_sites ORDER BY site").all();
  assert.deepEqual(
    entries.map((row) => [row["site"], row["since_ms"]]),
    [
      [1, DAY_ONE + 8 * HOUR_MS],
      [2, 0],
    ],
  );
  assert.deepEqual(
    entries.map((row) => row["entries"]),
    db
      .prepare("SELECT COUNT(*) AS n FROM value_hours GROUP BY site ORDER BY site")
      .all()
      .map((row) => row["n"]),
  );
});
