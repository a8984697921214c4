import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createBeginningLook } from "./beginning-look.ts";
import { MaskedValues } from "./masked-values.ts";

const KEY = "sk-Ab/é012345678901234567890123456789";

const item = (text: string): object => ({ candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }], usage: { n: [1] } });
const textsOf = (items: readonly unknown[]): string =>
  items.map((one) => (one as { candidates: { content: { parts: { text: string }[] } }[] }).candidates[0]?.content.parts[0]?.text).join("");

/** The ways in which providers stream lists. */
const FRAMINGS: Readonly<Record<string, { write(items: readonly object[]): string; read(text: string): string }>> = {
  list: { write: (items) => JSON.stringify(items), read: (text) => textsOf(JSON.parse(text) as unknown[]) },
  "list with blanks": { write: (items) => ` ${JSON.stringify(items, null, 2)}\n`, read: (text) => textsOf(JSON.parse(text) as unknown[]) },
  lines: {
    write: (items) => items.map((one) => `${JSON.stringify(one)}\n`).join(""),
    read: (text) =>
      textsOf(
        text.trim() === ""
          ? []
          : text
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line) as unknown),
      ),
  },
};

function passed(chunks: readonly (string | Buffer)[]): readonly string[] {
  const mask = new MaskedValues([KEY], createBeginningLook([KEY]));
  return [...chunks.map((chunk) => mask.push(Buffer.from(chunk)).toString("latin1")), mask.end().toString("latin1")].map((part) =>
    Buffer.from(part, "latin1").toString(),
  );
}

test("property: a key in any pieces of a list or of lines is masked except for two characters, and all other bytes are unchanged", () => {
  const part = fc.oneof(
    fc.constant(KEY),
    fc.string({ maxLength: 12 }),
    fc.integer({ min: 1, max: 30 }).map((length) => KEY.slice(0, length)),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(FRAMINGS)),
      fc.array(part, { maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      fc.array(fc.nat(3_000)),
      (name, parts, sizes, cuts) => {
        const framing = FRAMINGS[name] ?? assert.fail();
        const characters = Array.from(parts.join(" "));
        const items: object[] = [];
        while (characters.length > 0) items.push(item(characters.splice(0, sizes.next().value as number).join("")));
        const stream = framing.write(items);
        const bytes = Buffer.from(stream);
        const ends = [...cuts.map((cut) => cut % Math.max(1, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const mask = new MaskedValues([KEY], createBeginningLook([KEY]));
        const out = ends.map((end, i) => mask.push(bytes.subarray(ends[i - 1] ?? 0, end)));
        const shown = Buffer.concat([...out, mask.end()]).toString();
        assert.equal(Buffer.byteLength(shown), bytes.length);
        const [given, got] = [framing.read(stream), framing.read(shown)];
        assert.ok(!got.includes(KEY.slice(2)), got);
        if (!given.includes(KEY.slice(0, 19))) assert.equal(shown, stream);
      },
    ),
    { numRuns: 300 },
  );
});

test("an item passes when it is complete, and is held only while its text may begin a key", () => {
  const texts = ["It is", " sk", "-", "ate", " on"];
  const chunks = texts.map((text, i) => `${i === 0 ? "[" : ","}${JSON.stringify(item(text))}`);
  const steps = passed([...chunks, "]"]);
  assert.deepEqual(steps, [chunks[0], chunks[1], "", `${chunks[2]}${chunks[3]}`, chunks[4], "]", ""]);
});

test("parts of one whole value say a key together, and other bytes than JSON and too long items pass", () => {
  const whole = JSON.stringify({ output: [{ content: [{ text: KEY.slice(0, 9) }, { text: KEY.slice(9) }] }] });
  assert.doesNotMatch(passed([whole.slice(0, 30), whole.slice(30)]).join(""), /Ab|012345/);
  for (const other of [`x${whole}`, "", " ", "\u0000", "sk-Ab/", "]]", "[", '"', '{"a":"\\']) assert.equal(passed([other]).join(""), other);
  const long = `[{"a":"${"x".repeat(300_000)}`;
  assert.equal(passed([long])[0], long);
});

test("property: JSON with many texts that end with the beginning of a key passes as it came", () => {
  const honest = fc.constantFrom("yes", "is", "ask", "k", "s", "-", "A", "b", "/", "sk", "tasks sk-", "desk é");
  const key = fc.stringMatching(/^s?k?-?[A-Za-z0-9]{20,40}$/);
  fc.assert(
    fc.property(
      key,
      fc.array(honest, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1_100, max: 4_000 }),
      fc.constantFrom<"list" | "members" | "lists" | "lines">("list", "members", "lists", "lines"),
      (stored, words, many, form) => {
        const texts = Array.from({ length: many }, (_, i) => `${i % 3 === 0 ? "" : `${i} `}${words[(i * 7) % words.length]}${stored[0]}`);
        const items = texts.map((text, i) => (form === "lists" ? { id: i, tokens: [text, "end."] } : text));
        const whole =
          form === "members" ? { all: Object.fromEntries(items.map((item, i) => [`m${i}`, item])) } : { all: items, last: "other text" };
        const body = form === "lines" ? items.map((text) => `${JSON.stringify({ text: [text] })}\n`).join("") : JSON.stringify(whole);
        const mask = new MaskedValues([stored], createBeginningLook([stored]));
        const out = Buffer.concat([mask.push(Buffer.from(body)), mask.push(Buffer.from("\n")), mask.end()]).toString();
        assert.ok(out === `${body}\n`);
      },
    ),
    { numRuns: 40 },
  );
});

test("a key in pieces behind more values than are remembered is masked after seven characters", () => {
  const many = Array.from({ length: 1_100 }, (_, i) => `value ${i} is`);
  const lines = Array.from(KEY).map((character) => `${JSON.stringify({ text: character, many })}\n`);
  const mask = new MaskedValues([KEY], createBeginningLook([KEY]));
  const out = Buffer.concat([...lines.map((line) => mask.push(Buffer.from(line))), mask.end()]).toString();
  const values = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { text: string; many: string[] });
  assert.match(values.map(({ text }) => text).join(""), /^[^*]{1,7}\*+$/);
  assert.ok(values.every((value) => value.many.join() === many.join()));
});
