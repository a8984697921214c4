import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { anyRow } from "../../../test/support/event-rows.ts";
import { packed, packedRequests, testRequestEvent, testRequestRow } from "#events/testing/rows.ts";
import { decodeRows, encodeRows, OtherVersionError, UnfitRowsError } from "./rows-form.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { columnsOf, EVENT_TABLES } from "./schema.ts";

for (const table of EVENT_TABLES) {
  test(`property: rows of ${table} are the same after they have crossed the bus`, () => {
    fc.assert(
      fc.property(fc.array(anyRow(table), { minLength: 1, maxLength: 60 }), (rows) => {
        const sent = packed(
          table,
          rows.map((row) => storable(table, row)),
        );
        assert.deepEqual(decodeRows(encodeRows(sent)), sent);
      }),
      { numRuns: 30 },
    );
  });
}

/** Whole numbers where the table has whole numbers. */
function storable<T extends EventTable>(table: T, row: EventTables[T]): EventTables[T] {
  const whole = new Set<string>(columnsOf(table).flatMap(({ name, sql }) => (sql === "INTEGER" ? [name] : [])));
  const cells = Object.entries(row).map(([name, value]) => [
    name,
    whole.has(name) && typeof value === "number" ? (value % 1e9) | 0 : value,
  ]);
  return Object.fromEntries(cells) as EventTables[T];
}

const requests = packedRequests([
  [testRequestRow({ path: "/a" }), [testRequestEvent({ rule_id: "one" }), testRequestEvent({ rule_id: "two" })]],
  [testRequestRow({ path: "/b" }), []],
]);

test("events of requests cross the bus with their requests", () => assert.deepEqual(decodeRows(encodeRows(requests)), requests));

test("damaged rows from a node are refused with an error, and never crash the reader", () => {
  const whole = encodeRows(requests);
  const damages = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.nat(whole.length - 1).map((length) => whole.subarray(0, length)),
    fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      return changed;
    }),
  );
  fc.assert(
    fc.property(damages, (bytes) => {
      try {
        decodeRows(bytes);
      } catch (error) {
        assert.ok(error instanceof UnfitRowsError || error instanceof OtherVersionError, String(error));
      }
    }),
    { numRuns: 1_000 },
  );
});

test("control refuses numbers and JSON that the tables or their queries would refuse", () => {
  const row = testRequestRow();
  const unfit = [
    packed("requests", [{ ...row, status: 200.5 }]),
    packed("requests", [{ ...row, at_ms: Infinity }]),
    { ...packed("requests", [row]), numbers: packed("requests", [row]).numbers.map((column) => new Float64Array(column.length).fill(NaN)) },
  ];
  for (const sent of unfit) assert.throws(() => decodeRows(encodeRows(sent)), UnfitRowsError);
  const json = packed("requests", [{ ...row, custom_fields: { a: 1 } as never }]);
  const broken = { ...json, texts: json.texts.map((column) => ({ ...column, text: column.text.replace("}", "]") })) };
  assert.throws(() => decodeRows(encodeRows(broken)), UnfitRowsError);
});

test("a column that only one of two releases knows is left out, or empty", () => {
  const sent = encodeRows(packed("requests", [testRequestRow({ path: "/kept" })]));
  const length = sent.readUInt32LE(0);
  const head = sent.toString("utf8", 4, 4 + length).replace('"query"', '"later"');
  const renamed = Buffer.concat([sent.subarray(0, 4), Buffer.from(head), sent.subarray(4 + length)]);
  assert.deepEqual(decodeRows(renamed), packed("requests", [testRequestRow({ path: "/kept", query: "" })]));
});
