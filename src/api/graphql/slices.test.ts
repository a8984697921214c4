import assert from "node:assert/strict";
import { test } from "node:test";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { inSlices, jsonParts } from "./slices.ts";

const rows = Array.from({ length: 25_000 }, (_, n) => ({ n, text: `"\u2028${n}`, list: [{ a: n }], none: null }));

test("many items are shown in slices of so many in a tick, few at once", async () => {
  const inTick = itemsPerTurn();
  const show = ({ n }: { readonly n: number }): number => {
    inTick.add(1);
    return n;
  };
  assert.deepEqual(inSlices(rows.slice(0, 2), 100, show), [0, 1]);
  const sliced = inSlices(rows.slice(0, 1_000), 100, show) as AsyncIterable<number>;
  let count = 0;
  for await (const n of sliced) assert.equal(n, count++);
  assert.equal(count, 1_000);
  assert.ok(inTick.most() <= 110, String(inTick.most()));
});

test("JSON in parts is the same text, of which a tick makes 64 KiB", async () => {
  const inTick = itemsPerTurn();
  const answers = [{}, { data: null, errors: [] }, { data: { viewer: { zones: [{ a: rows, b: [], "c\n": {} }, {}] } }, errors: null }];
  for (const answer of answers) {
    let text = "";
    for await (const part of jsonParts(answer)) {
      inTick.add(part.length);
      text += part;
    }
    assert.ok(text === JSON.stringify(answer));
  }
  assert.ok(inTick.most() < 140_000, String(inTick.most()));
});
