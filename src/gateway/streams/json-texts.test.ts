import assert from "node:assert/strict";
import { test } from "node:test";
import { createSlices, finish } from "#kernel/process/slices.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { fc } from "../../../test/support/property.ts";
import { jsonTexts, UninspectableError } from "./json-texts.ts";
import { allText } from "./text-extraction.ts";

function textOf(json: string): string | undefined {
  const taken: Buffer[] = [];
  const isJson = finish(jsonTexts(Buffer.from(json), (bytes) => taken.push(bytes)));
  return isJson ? Buffer.concat(taken).toString() : undefined;
}

const escapedAll = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`;

test("property: the text read in chunks equals the text of the whole value, in any notation", () => {
  const texts = fc.oneof(
    fc.string({
      unit: fc.constantFrom("a", "4", '"', "\\", "/", "\n", "\u0001", "\u2028", "é", "😀", "\ud83d", "{", "]", ",", ":"),
      maxLength: 20,
    }),
    fc.constantFrom(
      "4012 8888 8888 1881",
      "a",
      '{"b":"c\\n"}',
      ' [1,"\\u0034"]',
      "[",
      "{not",
      "[[1],{}]",
      "é😀".repeat(900),
      'x"\\'.repeat(700),
    ),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, texts, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(fc.oneof(texts, fc.constant("k".repeat(200))), tie("value"), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom("", " ", "\t\n"), (any, indent) => {
      const json = JSON.stringify([any], undefined, indent);
      // Keys that are numbers come first in an object, and a member that occurs twice once.
      const lines = (text: string | undefined): readonly string[] => (text ?? "none").split("\n").toSorted();
      assert.deepEqual(lines(textOf(json)), lines(Buffer.from(allText(JSON.parse(json))).toString()));
    }),
    { numRuns: 150 },
  );
});

test("strings of any length are read completely, with escapes and multi-byte characters at any position", () => {
  for (const filling of ["a", "é", "😀", "\\", '"', "\n"])
    for (let before = 1015; before < 1030; before++) {
      const text = "b".repeat(before) + filling.repeat(2_000);
      assert.equal(textOf(JSON.stringify({ a: text })), `a: ${text}`);
      assert.equal(textOf(`{"a":${escapedAll(text)}}`), `a: ${text}`);
    }
});

test("invalid JSON, and JSON that is not an object or array, gives no text", () => {
  for (const json of [
    ...[
      "",
      "1",
      '"a"',
      "{",
      "[",
      "[1",
      "[1,]",
      "[,1]",
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      "{,}",
      "[1]x",
      "[1] 2",
      "[01]",
      "[1.]",
      "[tru]",
      "[truex]",
    ],
    ...['["a]', '["\\x"]', '["\\u12"]', '["a\nb"]', "[1}", '{"a":1]', "{1:2}", "\ufeff[1]", "['a']", "[+1]", "[-]"],
  ]) {
    assert.throws(() => assert.ok(typeof JSON.parse(json) === "object"), json);
    assert.equal(textOf(json), undefined, json);
  }
});

test("JSON that is too deep, too large or has a very long number cannot be inspected", () => {
  for (const json of [`${"[".repeat(70)}1${"]".repeat(70)}`, `[${"[],".repeat(250_001)}1]`, `[${"1".repeat(2_000)}]`])
    assert.throws(() => textOf(json), UninspectableError);
});

test("one tick reads only a part of a long text of blanks, strings, numbers or keys", async () => {
  for (const unit of [" ", '"a",', `"${"prose ".repeat(5_000)}",`, "1,", `"${"\\n".repeat(5_000)}",`, `{"${"k".repeat(3_000)}":"a"},`]) {
    const turns = itemsPerTurn();
    const json = Buffer.from(`[${unit.repeat(Math.ceil(1_000_000 / unit.length))}1]`);
    let steps = 0;
    function* counted() {
      for (const work = jsonTexts(json, (bytes) => bytes.length / 100); ; steps++) {
        const piece = work.next();
        if (piece.done === true) return piece.value;
        turns.add(piece.value);
        assert.ok(piece.value < 400, `${piece.value} microseconds in one step`);
        yield piece.value;
      }
    }
    assert.equal(await createSlices().run(counted()), true);
    assert.ok(steps > 100, `${steps} steps`);
    assert.ok(turns.most() < 6_000, `${turns.most()} microseconds in one turn`);
  }
});
