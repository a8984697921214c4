import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "#kernel/process/slices.ts";
import { fc } from "../../../test/support/property.ts";
import { jsonPlainTexts } from "./json-texts.ts";
import { UninspectableError } from "./json-texts.ts";
import { slicedText, type TextForm } from "./sliced-texts.ts";
import { answerText, plainText } from "./text-extraction.ts";

const asBytes = (text: string): string => Buffer.from(text).toString("utf8");

/** The result, the number of slices and the most that one cost. */
function counted(bytes: Buffer, form: TextForm, lengthMax: number) {
  const work = slicedText(bytes, form, lengthMax);
  let [slices, most] = [0, 0];
  for (;;) {
    const step = work.next();
    if (step.done === true) return { text: step.value, slices, most };
    slices += 1;
    most = Math.max(most, step.value);
  }
}

test("a long value has the text that it has as a short one", () => {
  const member = fc.constantFrom("content", "id", "role", "index", "a");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom("data:x", "data:a/b;base64,QUJD", `data:;base64,${"A".repeat(2_000)} and so on`, 'a\\b"c\u2028'),
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(member, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const hasNoObjectInFacts = (at: unknown): boolean =>
    typeof at !== "object" ||
    at === null ||
    Object.entries(at).every(
      ([name, item]) => hasNoObjectInFacts(item) && !(["id", "role"].includes(name) && JSON.stringify(item).includes("{")),
    );
  fc.assert(
    fc.property(
      value.filter((one) => typeof one === "object" && one !== null && hasNoObjectInFacts(one)),
      (one) => {
        let text = "";
        const isValue = finish(
          jsonPlainTexts(Buffer.from(JSON.stringify(one)), (piece) => {
            text += piece.toString("utf8");
            return 1;
          }),
        );
        assert.equal(isValue, true);
        assert.equal(text.slice(1), asBytes(plainText(one)));
      },
    ),
  );
});

test("long requests and answers are read in slices, and no further than a text is judged", () => {
  const content = "It said: \u201cgo\u201d.\n".repeat(60_000);
  const whole = Buffer.from(
    JSON.stringify({ id: "x", choices: [{ index: 0, message: { role: "assistant", content } }, { logprobs: [1, 2] }] }),
  );
  const event = (delta: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: delta } }] })}\n\n`;
  const stream = Buffer.from((content.match(/[^]{1,40}/g) ?? []).map(event).join(""));
  const oneEvent = Buffer.from(`${event("before ")}${event(content)}${event("after")}`);
  for (const [bytes, form, expected] of [
    [whole, "body", content],
    [stream, "events", content],
    [stream, "body", content],
    [oneEvent, "events", `before after ${content}`],
  ] as const) {
    const { text, slices, most } = counted(bytes, form, Number.MAX_SAFE_INTEGER);
    assert.ok(text.trim() === expected.trim(), `${text.length} of ${expected.length} characters`);
    if (bytes !== oneEvent) assert.ok(text.trim() === answerText([bytes]).trim());
    assert.ok(slices > 20 && most < 5_000, `${slices} slices, ${most} at most`);
  }
  const short = counted(stream, "events", 1_000);
  assert.ok(short.text.length > 1_000 && short.slices < 2_000, `${short.text.length} characters in ${short.slices} slices`);
});

test("text has no form in which it is overlooked, and what cannot be read is an error", () => {
  const said = "All of it is said.";
  const item = JSON.stringify({ candidates: [{ content: { parts: [{ text: said }] } }] });
  for (const long of ["", " ".repeat(300_000)])
    for (const form of ["body", "events"] as const) {
      const textOf = (text: string): string => finish(slicedText(Buffer.from(text + long), form, Number.MAX_SAFE_INTEGER));
      for (const text of [`[${item}]`, `data: ${item}\n\n`, `data: ${said}\n\n`, JSON.stringify({ content: `data:text/plain,${said}` })])
        assert.ok(textOf(text).includes(said), text);
      if (form === "body")
        for (const text of [said, JSON.stringify(said), `${item}\n${item}\n`, `{"a":[],}${said}`])
          assert.ok(textOf(text).includes(said), text);
      const deep = `${'{"a":'.repeat(100)}"${said}"${"}".repeat(100)}`;
      for (const text of [deep, `data: ${deep}\n\n`, `data: {"a":"b"}\ndata:\n\ndata: ${deep}\n\n`, `[${"[],".repeat(260_000)}"${said}"]`])
        assert.throws(() => textOf(text), UninspectableError);
    }
});
