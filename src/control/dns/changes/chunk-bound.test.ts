import assert from "node:assert/strict";
import { test } from "node:test";
import { importChunks } from "#control/dns/zone-files/read-zone-file.ts";
import { undoChunks } from "#control/dns/versions/revert-changes.ts";
import { transferPieces } from "#control/secondary/transfer-pieces.ts";
import { recordCost } from "#model/dns/record-cost.ts";
import { fc } from "../../../../test/support/property.ts";
import { boundedChunks } from "./chunk-bound.ts";
import type { RecordContentRow } from "./record-view.ts";

/** Names that planes make for the records at most: all names at and above theirs. */
function namesOf(records: readonly { readonly name: string }[]): number {
  const names = new Set<string>();
  for (const { name } of records)
    for (let at = name; ; at = at.slice(at.indexOf(".") + 1)) {
      names.add(at);
      if (!at.includes(".")) break;
    }
  return names.size;
}

/** So many names above each, which no other has. */
const deepName = (i: number): string => `${"l.".repeat(30)}n${i}.example.com`;
const rows = Array.from(
  { length: 600 },
  (_, i) => ({ id: `r${i}`, name: deepName(i), type: "A", content: "192.0.2.1" }) as RecordContentRow,
);

async function collected<T>(pieces: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

test("every splitter of a large change bounds its pieces by the names that they make", async () => {
  const zone = { name: "example.com", plan: "enterprise" };
  const policy = { localOriginAllowed: () => true, edgeAddresses: new Set<string>(), names: "letter_first", txtContent: "quoted" } as const;
  const scene = { zone, policy, proxied: false, onError: "clamp", foreignNameServers: false, nameServers: [] } as const;
  const file = rows.map(({ name }) => `${name}. 300 A 192.0.2.1\n`).join("");
  const imported = await collected(importChunks(file, scene));

  const undo = (before: boolean) =>
    collected(
      undoChunks(async function* () {
        yield rows.map((row) => (before ? { before: row, after: null } : { before: null, after: row }));
      }),
    );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const undone = (await undo(false)).map(({ deletes = [] }) => deletes.map(({ id }) => byId.get(id)!));
  const redone = (await undo(true)).map(({ restores = [] }) => restores);

  const deletes = rows.map((row, i) => ({ id: row.id, cost: recordCost(row, rows[i - 1]?.name ?? "") }));
  const nothing = { size: 0, prepared: () => [] };
  const left = await collected(transferPieces({ changes: { deletes, rows: [] }, added: nothing }));
  const prepared = imported.flat().map(({ record }) => record);
  const added = await collected(transferPieces({ changes: { deletes: [], rows: [] }, added: { size: 600, prepared: () => prepared } }));

  const splits: Record<string, readonly (readonly { readonly name: string }[])[]> = {
    import: imported.map((entries) => entries.map(({ record }) => record)),
    undone,
    redone,
    left: left.map((piece) => piece.deletes!.map(({ id }) => byId.get(id)!)),
    added: added.map((piece) => piece.prepared!),
    bounded: [...boundedChunks(rows, (row) => row)],
  };
  for (const [split, pieces] of Object.entries(splits)) {
    assert.deepEqual(
      pieces
        .flat()
        .map(({ name }) => name)
        .sort(),
      rows.map(({ name }) => name).sort(),
      split,
    );
    for (const piece of pieces) assert.ok(namesOf(piece) <= 532, `${split}: ${namesOf(piece)} names`);
  }
});

test("property: a chunk has all items in order, few of them, few names and few bytes, and the next item would have been too much", () => {
  const label = fc.constantFrom("a", "b", "c", "ab");
  const record = fc.record({
    name: fc.array(label, { minLength: 1, maxLength: 120 }).map((labels) => labels.join(".")),
    content: fc.nat({ max: 40_000 }).map((length) => "x".repeat(length)),
  });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (some, times) => {
      const items = Array.from({ length: times }, () => some).flat();
      const chunks = [...boundedChunks(items, (item) => item)];
      assert.deepEqual(chunks.flat(), items);
      for (const chunk of chunks) {
        assert.ok(chunk.length > 0 && chunk.length <= 125);
        const before = chunk.slice(0, -1);
        assert.ok(namesOf(before) <= 500, `${namesOf(before)} names`);
        assert.ok(before.reduce((sum, { content }) => sum + content.length, 0) <= 256 * 500 + 256 * chunk.length);
      }
    }),
  );
});

test("names beside each other cost one each, however deep they are", () => {
  const deep = Array.from({ length: 125 }, (_, i) => ({ name: `${i}.${"0.".repeat(30)}ip6.arpa` }));
  assert.equal([...boundedChunks(deep, (item) => item)].length, 1);
  assert.deepEqual(
    [
      recordCost({ name: "a.b.c" }, ""),
      recordCost({ name: "a.b.c" }, "x.b.c"),
      recordCost({ name: "b.c" }, "a.b.c"),
      recordCost({ name: "a.b" }, "a.b"),
    ],
    [3, 1, 1, 1],
  );
  assert.equal(recordCost({ name: "a", content: "x".repeat(2_560) }, "a"), 11);
});
