import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createBeginningLook } from "./beginning-look.ts";
import { MaskedEvents } from "./masked-events.ts";

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

test("further blank lines after an event pass as they came", () => {
  const chunks = ["data: sk-Ab\n\n\n", ": waiting\r\n\r\n\n", "data: other\n\n"];
  assert.equal(passed(chunks).join(""), chunks.join(""));
});

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
        const [givenBytes, gotBytes] = [Buffer.from(given), Buffer.from(got)];
        assert.equal(gotBytes.length, givenBytes.length);
        assert.ok(!got.includes(KEY.slice(2)), got);
        if (!given.includes(KEY.slice(0, 19))) assert.equal(shown, stream);
        assert.ok(gotBytes.every((byte, i) => byte === givenBytes[i] || byte === 0x2a));
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

test("a key said over parts of one event, over several places, slowly between other texts, or very deep is masked", () => {
  const halves = [KEY.slice(0, 9), KEY.slice(9)] as const;
  const parts = `data: ${JSON.stringify({ candidates: [{ content: { parts: halves.map((text) => ({ text })) } }] })}\n\n`;
  const start = `data: ${JSON.stringify({ type: "content_block_start", index: 0, content_block: { type: "text", text: halves[0] } })}\n\n`;
  const delta = `data: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: halves[1] } })}\n\n`;
  const strings = halves.map((half) => `data: ${JSON.stringify(half)}\n\n`).join("");
  const escaped = halves
    .map((half) => event(half))
    .join("")
    .replaceAll('"sk', String.raw`"\u0073k`);
  const deep = halves.map((half) => `data: ${"[".repeat(200)}${JSON.stringify(half)}${"]".repeat(200)}\n\n`).join("");
  const kinds = halves.map(
    (half, i) => `data: ${JSON.stringify({ type: "a", delta: half })}\n\ndata: {"type":"b","delta":"other ${i}"}\n\n`,
  );
  for (const stream of [parts, start + delta, strings, escaped, deep, kinds.join("")]) {
    const shown = passed([stream]).join("");
    assert.equal(Buffer.byteLength(shown), Buffer.byteLength(stream));
    assert.doesNotMatch(shown, /Ab|012345/, stream);
  }
  for (const many of [10, 100, 1_000]) {
    const others = Array.from({ length: many }, (_, i) => event(`text ${i}. `, 1));
    const stream = Array.from(KEY).flatMap((character) => [event(character), ...others]);
    const got = said(passed(stream).join(""));
    assert.equal(Buffer.byteLength(got), Buffer.byteLength(KEY));
    assert.match(got, /^sk(?:-Ab\/é)?\*{30,}$/, `with ${many} events between`);
  }
});

test("of a key that more texts say in pieces than are remembered, seven characters at most are shown", () => {
  const length = 20;
  const events = Array.from(KEY.slice(0, length)).flatMap((character) =>
    Array.from({ length: 600 }, (_, index) => event(character, index)),
  );
  const shown = passed(events).join("");
  for (const index of [0, 300, 599]) {
    const text = said(shown, index);
    assert.match(text, /^[^*]{1,7}\*+$/);
    assert.equal(Buffer.byteLength(text), Buffer.byteLength(KEY.slice(0, length)));
  }
});

test("property: streams of many texts that end with the beginning of a key pass as they came", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_100, max: 2_500 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.constantFrom("the sky is", " tasks", "k", "s", "-ask", " sk", "sk-", "", "\n"), { minLength: 1, maxLength: 5 }),
      (many, length, texts) => {
        const first = Array.from({ length: many }, (_, index) => event(`text ${KEY.slice(0, length)}`, index));
        const later = texts.flatMap((text) => [0, 7, many - 1, many].map((index) => event(`${text}.`, index)));
        const stream = [...first, ...later, "data: [DONE]\n\n"];
        assert.ok(passed(stream).join("") === stream.join(""));
      },
    ),
    { numRuns: 10 },
  );
});

test("property: of a key in pieces among many texts that begin one, seven characters at most are shown", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_100, max: 1_500 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
      (many, length, sizes) => {
        const others = Array.from({ length: many }, (_, index) => event(`text ${KEY.slice(0, length)}`, index + 1));
        const stream: string[] = [];
        for (let at = 0, i = 0; at < KEY.length; i++) {
          const size = sizes[i % sizes.length] as number;
          stream.push(event(KEY.slice(at, at + size)), ...(i < 2 ? others : []));
          at += size;
        }
        const shown = said(passed(stream).join(""));
        assert.match(shown, /^[^*]{0,7}\*+$/);
        assert.equal(Buffer.byteLength(shown), Buffer.byteLength(KEY));
      },
    ),
    { numRuns: 4 },
  );
});

test("an event is changed nowhere but in the key", () => {
  const stream = `id: 7\ndata: {"choices" : [ {"delta":{"content":"${KEY.slice(0, 9)}\\u0032"} , "index":0} ],\ndata:   "n":1e2}\n: note\n\n${event(KEY.slice(10))}`;
  const shown = passed([stream]).join("");
  assert.equal(
    shown.replaceAll(/\*+/g, "*"),
    `id: 7\ndata: {"choices" : [ {"delta":{"content":"*"} , "index":0} ],\ndata:   "n":1e2}\n: note\n\n${event("*")}`,
  );
});
