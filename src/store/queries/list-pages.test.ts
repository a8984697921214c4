import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Kysely } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { auditLogOf } from "#store/access/audit-log.ts";
import { listCustomHostnames } from "#store/hostnames/custom-hostnames.ts";
import { listGateways } from "#store/gateways/gateways.ts";
import type { ListPart, RowKey } from "./list-pages.ts";
import { migrate } from "#store/database/migrate.ts";
import { kyselyOver } from "./kysely-over.ts";
import { DIALECTS } from "./session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import type { Tables } from "./tables.ts";
import { listZones } from "#store/zones/zones.ts";

type Db = Kysely<Tables>;

const reach = { every: ["a"], some: [], accounts: [], not: [] };

const LISTS: readonly (readonly [
  name: string,
  key: RowKey,
  list: (db: Db, part: ListPart, direction: "asc" | "desc") => Promise<unknown>,
])[] = [
  ["zones", ["n", "i"], (db, part, direction) => listZones(db, { match: "all", reach, order: "name", direction }, part)],
  ["zones of all", ["n", "i"], (db, part, direction) => listZones(db, { match: "all", reach: null, order: "name", direction }, part)],
  ["custom hostnames", ["c", "i"], (db, part, direction) => listCustomHostnames(db, "z", { order: "ssl", direction }, part)],
  ["gateways", ["c", "i"], (db, part) => listGateways(db, "a", "", part)],
  ["audit log", ["i"], (db, part, direction) => auditLogOf(db, { account: "a" }, {}, direction, part)],
];

test("a list page sorts only equal rows, and starts in the index where the previous page ended", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pages-"));
  const session = openSqlite(join(directory, "control.db"), "migrate");
  try {
    await migrate(session, DIALECTS.sqlite, systemClock);
    let plan = "";
    const db = kyselyOver(DIALECTS.sqlite, async (text, parameters) => {
      const { rows } = await session.query(`EXPLAIN QUERY PLAN ${text}`, parameters);
      plan = rows.map(({ detail }) => String(detail)).join("; ");
      return { rows: [], affected: 0 };
    });
    for (const [name, row, list] of LISTS)
      for (const direction of ["asc", "desc"] as const) {
        await list(db, { limit: 10, offset: 1_000, from: null }, direction);
        assert.doesNotMatch(plan, /TEMP B-TREE FOR ORDER BY|^SCAN (?!zones USING INDEX)/, `${name}: ${plan}`);
        await list(db, { limit: 10, offset: 1_000, from: { position: 1_000, row } }, direction);
        assert.doesNotMatch(plan, /TEMP B-TREE FOR ORDER BY|^SCAN /, `${name}: ${plan}`);
        assert.match(plan, name !== "gateways" && direction === "asc" ? />/ : /</, `${name}: ${plan}`);
      }
  } finally {
    await session.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
