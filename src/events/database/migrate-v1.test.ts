import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openEventDatabase } from "./database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { testRequestRow, testSecurityRow } from "#events/testing/rows.ts";

/** As version 1 made them. */
const VERSION_1 = `
  CREATE TABLE requests (row_id INTEGER PRIMARY KEY, ray_id TEXT NOT NULL, at_ms INTEGER NOT NULL, account_id TEXT NOT NULL, zone_id TEXT NOT NULL, client_ip TEXT NOT NULL, method TEXT NOT NULL, scheme TEXT NOT NULL, host TEXT NOT NULL, path TEXT NOT NULL, query TEXT NOT NULL, user_agent TEXT NOT NULL, status INTEGER NOT NULL, origin_status INTEGER, bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, duration_ms REAL NOT NULL) STRICT;
  CREATE TABLE security_events (row_id INTEGER PRIMARY KEY, id TEXT NOT NULL, ray_id TEXT NOT NULL, at_ms INTEGER NOT NULL, account_id TEXT NOT NULL, zone_id TEXT NOT NULL, ruleset_id TEXT NOT NULL, rule_id TEXT NOT NULL, deployed_by TEXT NOT NULL, rule_description TEXT NOT NULL, phase TEXT NOT NULL, action TEXT NOT NULL, service TEXT NOT NULL, client_ip TEXT NOT NULL, method TEXT NOT NULL, scheme TEXT NOT NULL, host TEXT NOT NULL, path TEXT NOT NULL, query TEXT NOT NULL, user_agent TEXT NOT NULL, status INTEGER NOT NULL, matches TEXT NOT NULL, scan_limited INTEGER NOT NULL) STRICT;
  PRAGMA user_version = 1;
  PRAGMA journal_mode = WAL;`;

test("a database of version 1 is migrated, and its file stays beside the new one", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-carry-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "events.db");
  const old = new DatabaseSync(path);
  old.exec(VERSION_1);
  const event = { ...testSecurityRow({ scan_limited: true }), matches: JSON.stringify(testSecurityRow().matches), scan_limited: 1 };
  const request = testRequestRow({ custom_fields: null });
  for (const [table, row] of [
    ["requests", request],
    ["security_events", event],
  ] as const) {
    const columns = old
      .prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'row_id'`)
      .all()
      .map((column) => String(column["name"]));
    const cells = columns.map((column) => (row as unknown as Record<string, string | number | null>)[column] ?? null);
    old.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`).run(...cells);
  }
  old.close();
  // The remains of an interrupted start.
  writeFileSync(`${path}.carried`, "half a database");

  const database = openEventDatabase(path, () => 1234);
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const { http_version: _, tls_version: _2, content_type: _3, ...known } = request;
  assert.deepEqual(queries.list("requests", { where: [], limit: 10 }), [{ ...known, http_version: "", tls_version: "", content_type: "" }]);
  assert.deepEqual(queries.list("security_events", { where: [], limit: 10 }), [testSecurityRow({ scan_limited: true })]);
  const [counted] = queries.groups("requests", { where: [], by: [], measures: [], order: [], limit: 1 });
  assert.equal(counted?.count, 1, "they are counted like new ones");
  assert.ok(existsSync(`${path}.version-1-1234`));
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes("carried")),
    [],
  );
});
