import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { finish } from "#kernel/process/slices.ts";
import { readingTexts, spansInStream } from "./stream-texts.ts";

const chunk = (content: string, index = 0): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [{ index, delta: { content }, finish_reason: null }] })}`;

/** Text of the first choice, with its JSON escapes. */
const said = (stream: string): string =>
  finish(readingTexts(Buffer.from(stream)))
    .joined()[0]
    ?.bytes.toString() ?? "";

test("the text of a choice is joined for any line ends and any lines between events", () => {
  const words = ["the ", "sea", " \\ and", ' "quoted" ', "\n", "é", "漢字", "🌊", "", " end"];
  const written = words.map((word) => JSON.stringify(word).slice(1, -1)).join("");
  for (const [end, between] of [
    ["\n", "\n"],
    ["\r\n", "\r\n"],
    ["\n", ""],
    ["\n", ": a comment\n\n"],
    ["\n", "event: chunk\nid: 7\nretry: 10\n"],
    ["\n", "\n\n\n"],
  ] as const)
    assert.equal(said(words.map((word) => chunk(word) + end + between).join("")), written, JSON.stringify([end, between]));
});

test("unfinished lines, huge ones and ones split within a character are handled", () => {
  const huge = "x".repeat(300_000);
  const stream = Buffer.from([chunk("a "), chunk("b "), chunk(huge), chunk("c "), chunk("🌊")].join("\n\n"));
  const { joined, said: all } = finish(readingTexts(stream.subarray(0, stream.length - 40)));
  assert.ok(String(joined()[0]?.bytes) === `a b ${huge}c `);
  assert.ok(all.includes(huge));
  assert.equal(said("data:"), "");
  assert.equal(said("dat"), "");
  assert.equal(said(""), "");
  // An incomplete text is read as far as it goes.
  assert.equal(said(`data: {"content":"one"}\ndata: {"content":"two`), "onetwo");
});

/** Events of several shapes, so that some lines are equal or nearly equal. */
const event = fc.tuple(fc.constantFrom("", "a", "ab", "abc", '"', "\\", "\n", "é", 'x"},"finish_reason":null}]}', "\\\\"), fc.nat(2));
const line = fc.oneof(
  { weight: 6, arbitrary: event.map(([text, index]) => chunk(text, index)) },
  fc.constantFrom("", "\r", ": ping", "data", "data:", "data: [DONE]", 'data: {"x":"y"}', "event: x", 'data:{"content":"z"}'),
);

test("all text of a stream is read, and each position has the joined text", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.boolean(), (lines, isWhole) => {
      const stream = Buffer.from(lines.join("\n") + (isWhole ? "\n" : ""));
      const texts = finish(readingTexts(stream));
      const joined = texts.joined();
      const rest = String(texts.said);
      // Each line is in the output unchanged, or its text is, in quotes.
      for (const each of new Set(lines)) {
        const piece = /"content":("(?:[^"\\]|\\.)*")/.exec(each)?.[1] ?? each;
        assert.ok(rest.includes(piece), `${piece} in ${rest}`);
      }
      const ending = joined.map(({ bytes }) => `\n${String(bytes)}`).join("");
      assert.ok(rest.endsWith(ending));
      for (const text of joined)
        for (let from = 0; from < text.bytes.length; from += 3) {
          let copy = "";
          spansInStream(text, from, text.bytes.length, (start, end) => (copy += stream.toString("latin1", start, end)));
          assert.equal(copy, text.bytes.toString("latin1", from));
        }
    }),
  );
});
