import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import type { DnsRecordRow } from "./record-row.ts";
import { recordsByIds, recordsNamed, writeRecords } from "./dns-record-rows.ts";
import { migrate } from "#store/database/migrate.ts";
import { kyselyOver } from "#store/queries/kysely-over.ts";
import { DIALECTS } from "#store/queries/session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";

test("many records are read, written and deleted by their keys, without reading their zone", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rows-"));
  const session = openSqlite(join(directory, "control.db"), "migrate");
  try {
    await migrate(session, DIALECTS.sqlite, systemClock);
    const plans = new Map<string, string>();
    const db = kyselyOver(DIALECTS.sqlite, async (sql, parameters) => {
      const { rows } = await session.query(
        `EXPLAIN QUERY PLAN ${sql}`,
        parameters.map((value) => value ?? null),
      );
      plans.set(sql, rows.map(({ detail }) => String(detail)).join("; "));
      return { rows: [], affected: 0 };
    });
    const before = { id: "a", zone_id: "z", name: "a.example", content_key: "", comment: "c", tags: '["t"]' } as DnsRecordRow;
    const after = { ...before, comment: null, tags: "[]" };
    for (const count of [1, 4, 256]) {
      const ids = Array.from({ length: count }, (_, i) => `${i}`);
      await recordsByIds(db, "z", ids);
      await recordsNamed(db, "z", ids);
      await writeRecords(db, "z", [
        ...ids.map(() => ({ before, after })),
        ...ids.map(() => ({ before, after: null })),
        ...ids.map(() => ({ before: null, after: before })),
      ]);
    }
    assert.ok(plans.size >= 20, "every size has statements of its own");
    // The last words of a step say what is looked up: `INDEX sqlite_autoindex_dns_records_1 (id=?)`.
    const keys = ["(id=?)", "(record_id=?)", "(zone_id=? AND name=?)", "(zone_id=? AND facet=?)"];
    for (const [sql, plan] of plans)
      for (const step of plan.split("; "))
        if (/(SEARCH|SCAN) dns_/.test(step))
          assert.ok(
            keys.some((key) => step.endsWith(key)),
            `${sql}: ${step}`,
          );
  } finally {
    await session.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
