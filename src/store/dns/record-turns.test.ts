import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { createGroupCommit } from "#store/database/group-commit.ts";
import { createHighestPosition } from "#store/database/history.ts";
import { openStore } from "#store/database/open.ts";
import { VALUES_AT_ONCE, VALUES_PER_ROW } from "#store/database/paced-session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import { DIALECTS } from "#store/queries/session.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { type RecordChange, writeRecords } from "./dns-record-rows.ts";
import type { DnsRecordRow } from "./record-row.ts";

const RECORDS = 1_500;
const TAGS = 3;

const row = (i: number, comment: string | null): DnsRecordRow => ({
  id: `${i}`,
  zone_id: "z",
  name: `n${i}.example`,
  type: "A",
  content: "192.0.2.1",
  content_key: "192.0.2.1",
  data: null,
  priority: null,
  ttl: 300,
  proxied: 0,
  settings: "{}",
  comment,
  tags: JSON.stringify(Array.from({ length: TAGS }, (_, n) => `tag${n}:${i}`)),
  rdata: "",
  comment_modified_on: null,
  tags_modified_on: null,
  created_on: "",
  modified_on: "",
});

test("one tick creates, replaces or deletes only some of a unit's records and their tags", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-turns-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  await store.write(async ({ db }) => {
    await sql`INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('a', 'a', 'standard', '{}', '') ON CONFLICT DO NOTHING`.execute(
      db,
    );
    await sql`INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on) VALUES ('z', 'a', 'example', 'active', 'full', 0, 'pro', '[]', '{}', 1, 1, '[]', '', '')`.execute(
      db,
    );
  });
  await store.close();
  const turns = itemsPerTurn();
  let total = 0;
  let inOneStatement = 0;
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => {},
    connect: async () => {
      const session = openSqlite(path, "write");
      return {
        ...session,
        query: async (text, parameters) => {
          const answer = await session.query(text, parameters);
          const touched = answer.touched ?? 0;
          turns.add(touched);
          total += touched;
          inOneStatement = Math.max(inOneStatement, touched);
          return answer;
        },
      };
    },
  });
  const all = (change: (i: number) => RecordChange) =>
    group.write(({ db }) =>
      writeRecords(
        db,
        "z",
        Array.from({ length: RECORDS }, (_, i) => change(i)),
      ),
    );
  await all((i) => ({ before: null, after: row(i, null) }));
  await all((i) => ({ before: row(i, null), after: row(i, "comment") }));
  await all((i) => ({ before: row(i, "comment"), after: null }));
  await group.close();
  assert.ok(total >= RECORDS * (3 + 4 * TAGS), `${total} rows: those that a cascade takes along are counted`);
  const rowsAtOnce = VALUES_AT_ONCE / VALUES_PER_ROW;
  assert.ok(inOneStatement <= 256, `${inOneStatement} rows in one statement`);
  assert.ok(turns.most() <= 256 + rowsAtOnce, `${turns.most()} rows in one turn`);
});
