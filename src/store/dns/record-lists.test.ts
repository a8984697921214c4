import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { databaseTest } from "../../../test/support/store.ts";
import { MIGRATIONS, migrate } from "#store/database/migrate.ts";
import { openStore } from "#store/database/open.ts";
import { createPostgres } from "#store/database/backends/postgres.ts";
import type { RecordTest } from "./record-conditions.ts";
import { sourceOf } from "./record-sources.ts";
import { afterPrefix, keyTail } from "./record-keys.ts";
import { reversed } from "#store/queries/reversed.ts";
import { listRecordIds, listRecords } from "./record-lists.ts";
import { kyselyOver } from "#store/queries/kysely-over.ts";
import { DIALECTS } from "#store/queries/session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import type { Store } from "#store/database/store.ts";

/** A filter, the index that serves it, and whether that tells all without a row. */
type Served = readonly [test: RecordTest, index: string, covering: boolean];

const texts = (on: "name" | "content" | "comment", indexes: readonly [head: string, tail: string]): readonly Served[] => [
  [{ on, operator: "exact", value: "a.example" }, indexes[0], true],
  [{ on, operator: "startswith", value: "a" }, indexes[0], true],
  [{ on, operator: "startswith", value: "a".repeat(99) }, indexes[0], on === "name"],
  [{ on, operator: "endswith", value: "e" }, indexes[1], true],
  [{ on: "any", tests: ["a", "b"].map((value) => ({ on, operator: "exact", value })) }, indexes[0], on === "name"],
];

const SERVED: readonly Served[] = [
  ...texts("name", ["dns_records_by_name", "dns_records_by_name_end"]),
  ...texts("content", ["dns_records_by_content", "dns_records_by_content_end"]),
  ...texts("comment", ["dns_records_by_comment", "dns_records_by_comment_end"]),
  // The rows of long texts are read, but only those.
  [{ on: "content", operator: "contains", value: "a" }, "dns_records_by_content", false],
  [{ on: "comment", operator: "contains", value: "a" }, "dns_records_by_comment", false],
  [{ on: "commented", value: true }, "dns_records_by_comment", true],
  [{ on: "commented", value: false }, "dns_records_by_name", true],
  [{ on: "type", value: "MX" }, "dns_records_by_type", true],
  [{ on: "any", tests: ["MX", "A"].map((value) => ({ on: "type", value })) }, "dns_records_by_type", true],
  [{ on: "proxied", value: true }, "dns_records_proxied", true],
  [{ on: "proxied", value: false }, "dns_records_by_name", true],
  ...(["present", "exact", "startswith", "contains"] as const).map((operator): Served => [
    { on: "tag", operator, name: "a", value: "b" },
    "dns_record_tags_by_tag",
    true,
  ]),
  [{ on: "tag", operator: "endswith", name: "a", value: "b" }, "dns_record_tags_by_tag_end", true],
  [{ on: "tag", operator: "absent", name: "a", value: "" }, "dns_records_by_name", true],
  [
    {
      on: "all",
      tests: [
        { on: "type", value: "TXT" },
        { on: "content", operator: "exact", value: "v" },
      ],
    },
    "dns_records_by_content",
    false,
  ],
];

test("each filter uses its index, without statistics and despite other candidates", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-lists-"));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  try {
    for (const [wanted, index, covering] of SERVED) {
      const { rows: plan } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${sourceOf(wanted, "z").names(null)}`.execute(store.read);
      const details = plan.map(({ detail }) => detail);
      const says = `${JSON.stringify(wanted)}: ${details.join("; ")}`;
      assert.ok(
        details.some((detail) => `${detail} `.includes(`${covering ? "COVERING INDEX" : "INDEX"} ${index} `)),
        says,
      );
      assert.ok(
        details.every((detail) => !detail.startsWith("SCAN dns_record")),
        says,
      );
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test("no page of a filter reads all rows of the zone", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-lists-"));
  const session = openSqlite(join(directory, "control.db"), "migrate");
  try {
    await migrate(session, DIALECTS.sqlite, systemClock);
    const plans = new Map<string, readonly string[]>();
    const explaining = kyselyOver(DIALECTS.sqlite, async (text, parameters) => {
      const { rows } = await session.query(`EXPLAIN QUERY PLAN ${text}`, parameters);
      plans.set(
        text,
        rows.map(({ detail }) => String(detail)),
      );
      return { rows: [], affected: 0 };
    });
    const store = { read: explaining, scan: explaining } as unknown as Store;
    for (const [wanted] of SERVED)
      for (const direction of ["asc", "desc"] as const)
        for (const [known_total, offset] of [
          [null, 0],
          [1_000, 0],
          [1_000, 500],
          [500_000, 0],
        ] as const) {
          const list = { zone_id: "z", test: wanted, order: "name", direction } as const;
          await listRecords(store, list, { limit: 100, offset, records: 1_000_000, known_total });
        }
    assert.ok(plans.size > SERVED.length);
    // If only the zone limits a search, the index suffices.
    const readsZone = /^SCAN dns_record_tags|^SEARCH dns_records USING INDEX \w+ \(zone_id=\?\)/;
    for (const [text, steps] of plans) for (const step of steps) assert.doesNotMatch(step, readsZone, text);
  } finally {
    await session.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test("the end of a prefix's range includes exactly the texts with the prefix", () => {
  const character = fc.constantFrom("a", "b", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}");
  const word = fc.array(character, { maxLength: 4 }).map((parts) => parts.join(""));
  const less = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
  fc.assert(
    fc.property(word, word, (prefix, text) => {
      const after = afterPrefix(prefix);
      const inRange = !less(text, prefix) && (after === null || less(text, after));
      assert.equal(inRange, text.startsWith(prefix));
    }),
    { numRuns: 2000 },
  );
});

test("text is reversed by characters, and half a character as the database stores it", () => {
  assert.equal(reversed("a😀b"), "b😀a");
  assert.equal(reversed("\udc00\ud800"), "\ufffd\ufffd");
  assert.equal(keyTail(`${"x".repeat(70)}yz`), `zy${"x".repeat(62)}`);
});

databaseTest("records from before the lists' migration are found", async (url, name) => {
  const server = name === "postgres" ? createPostgres(url) : null;
  const session = server ? await server.connect({ statementTimeoutMs: 10_000 }) : openSqlite(url.slice("sqlite:".length), "migrate");
  const dialect = DIALECTS[name];
  await migrate(session, dialect, systemClock, MIGRATIONS.slice(0, 2));
  const columns = "id, zone_id, name, type, content, content_key, ttl, proxied, settings, comment, tags, rdata, created_on, modified_on";
  await session.query("INSERT INTO accounts (id, name, type, settings, created_on) VALUES ('a', 'a', 'standard', '{}', '')");
  await session.query(
    "INSERT INTO zones (id, account_id, name, status, type, paused, plan, name_servers, settings, serial, record_count, vanity_name_servers, created_on, modified_on) VALUES ('z', 'a', 'b.example', 'active', 'full', 0, 'pro', '[]', '{}', 1, 1, '[]', '', '')",
  );
  const tags = JSON.stringify(["Team:Blue", "prod", "team:blue", "team:red"]);
  await session.query(
    `INSERT INTO dns_records (${columns}) VALUES ('r', 'z', 'www.b.example', 'TXT', '"Hä llo"', 'hä llo', 1, 0, '{}', 'A Note', '${tags}', '', '', '')`,
  );
  await session.close();
  await server?.close();
  const store = await openStore({ url, clock: systemClock });
  try {
    const row = await store.read
      .selectFrom("dns_records")
      .select([
        "name_reversed",
        "content_head",
        "content_reversed",
        "comment_key",
        "comment_head",
        "comment_reversed",
        "commented",
        "tagged",
      ])
      .executeTakeFirst();
    assert.deepEqual(row, {
      name_reversed: "elpmaxe.b.www",
      content_head: "hä llo",
      content_reversed: "oll äh",
      comment_key: "a note",
      comment_head: "a note",
      comment_reversed: "eton a",
      commented: 1,
      tagged: 1,
    });
    const tag = { record_id: "r", zone_id: "z", record_name: "www.b.example" };
    assert.deepEqual(await store.read.selectFrom("dns_record_tags").selectAll().orderBy("tag_key").execute(), [
      { ...tag, tag_key: "prod:", tag_reversed: "prod:", repeated: 0 },
      { ...tag, tag_key: "team:blue", tag_reversed: "team:eulb", repeated: 1 },
      { ...tag, tag_key: "team:red", tag_reversed: "team:der", repeated: 1 },
    ]);
    assert.deepEqual(await store.read.selectFrom("dns_record_counts").select(["facet", "count"]).orderBy("facet").execute(), [
      { facet: "commented", count: 1 },
      { facet: "tag:prod", count: 1 },
      { facet: "tag:team", count: 1 },
      { facet: "type:TXT", count: 1 },
    ]);
    await store.write(({ db }) => db.deleteFrom("dns_records").execute());
    assert.deepEqual(await store.read.selectFrom("dns_record_tags").selectAll().execute(), [], "tags go with their record");
  } finally {
    await store.close();
  }
});

test("a page after a known place reads the index from there, and a long page sorts nothing", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-lists-"));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  try {
    const plans: string[] = [];
    const explaining = kyselyOver(DIALECTS.sqlite, async (text, parameters) => {
      const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${raw(text, parameters)}`.execute(store.read);
      plans.push(rows.map(({ detail }) => detail).join("; "));
      return { rows: [], affected: 0 };
    });
    const from = { position: 500_000, row: { name: "n", type: "A", id: "i", content_key: "c" } };
    const window = { limit: 5_000, offset: 500_000, from, records: 1_000_000, known_total: 900_000 };
    for (const wanted of [null, { on: "type", value: "A" }, { on: "proxied", value: true }] satisfies (RecordTest | null)[])
      for (const direction of ["asc", "desc"] as const) {
        const list = { zone_id: "z", test: wanted, order: "name", direction } as const;
        plans.length = 0;
        await listRecords({ read: explaining, scan: explaining } as unknown as Store, list, window);
        await listRecordIds({ read: explaining, scan: explaining } as unknown as Store, list, window);
        const says = `${JSON.stringify(list)}: ${plans.join("\n")}`;
        assert.equal(plans.length, 2, says);
        for (const plan of plans) assert.match(plan, direction === "asc" ? /[(\w, ]*name[\w, )]*>/ : /[(\w, ]*name[\w, )]*</, says);
        assert.match(plans[1] ?? "", /COVERING INDEX/, says);
        assert.doesNotMatch(plans[0] ?? "", /TEMP B-TREE FOR (?!string_agg)/, says);
      }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

/** The text as it is, with its parameters. */
function raw(text: string, parameters: readonly unknown[]) {
  const pieces = text.split("?");
  return sql.join(
    pieces.map((piece, i) => (i < pieces.length - 1 ? sql`${sql.raw(piece)}${parameters[i]}` : sql.raw(piece))),
    sql``,
  );
}
