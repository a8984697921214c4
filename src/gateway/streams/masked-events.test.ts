import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createBeginningLook, MaskedEvents } from "./masked-events.ts";

const KEY = "sk-Ab/é012345678901234567890123456789";
const maskOf = (): MaskedEvents => new MaskedEvents([KEY], createBeginningLook([KEY]));

const event = (content: string, index = 0): string => `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
const said = (stream: string, index = 0): string =>
  stream
    .split("\n\n")
    .filter((part) => part.startsWith("data: {"))
    .map((part) => JSON.parse(part.slice(6)).choices[0])
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta.content)
    .join("");

/** The output for each of the chunks, and at the end. */
function passed(chunks: readonly (string | Buffer)[]): readonly string[] {
  const mask = maskOf();
  return [...chunks.map((chunk) => mask.push(Buffer.from(chunk)).toString()), mask.end().toString()];
}

test("property: a key in any chunks is masked except for two characters, and all other text is unchanged", () => {
  const part = fc.oneof(
    fc.constant(KEY),
    fc.string({ maxLength: 12 }),
    fc.integer({ min: 1, max: 30 }).map((length) => KEY.slice(0, length)),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      fc.array(fc.nat(3_000)),
      (parts, sizes, cuts) => {
        const text = Array.from(parts.join(" "));
        let stream = ": hello\n\n";
        while (text.length > 0) stream += event(text.splice(0, sizes.next().value as number).join("")) + event("other", 1);
        stream += "data: [DONE]\n\n";
        const bytes = Buffer.from(stream);
        const ends = [...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
        const shown = passed(ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))).join("");
        const [given, got] = [said(stream), said(shown)];
        assert.equal(got.length, given.length);
        assert.ok(!got.includes(KEY.slice(2)), got);
        if (!given.includes(KEY.slice(0, 19))) assert.equal(shown, stream);
        for (let i = 0; i < given.length; i++) assert.ok(got[i] === given[i] || got[i] === "*");
        assert.equal(said(shown, 1), said(stream, 1));
      },
    ),
    { numRuns: 300 },
  );
});

test("an event is held only while its text may begin a key", () => {
  const steps = passed([event("It is"), event(" sk"), event("-"), event("ate"), event(" on")]);
  assert.deepEqual(
    steps.map((step) => said(step)),
    ["It is", " sk", "", "-ate", " on", ""],
  );
});

test("non-JSON lines with any line end are masked too, and an unfinished event is not held", () => {
  for (const line of ["\n", "\r\n", "\r"]) {
    const lines = [KEY.slice(0, 9), KEY.slice(9)].map((piece) => `event: e${line}data: ${piece}${line}${line}`);
    assert.doesNotMatch(passed(lines).join(""), /Ab|0123/);
  }
  const long = `data: ${"x".repeat(300_000)}`;
  assert.equal(passed([long])[0], long);
});
