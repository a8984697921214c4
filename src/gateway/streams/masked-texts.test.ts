import assert from "node:assert/strict";
import { test } from "node:test";
import { countedWork } from "../../../test/support/counted-work.ts";
import { MaskedTexts } from "./masked-texts.ts";
import { jsonPlacedTexts } from "./placed-texts.ts";

const KEY = "sk-0123456789abcdef0123456789abcdef";

test("an event costs the same work however many texts have ended with the beginning of a key", () => {
  const workBehind = (texts: number): number => {
    const mask = new MaskedTexts([KEY], { textsOf: (raw) => jsonPlacedTexts(raw) });
    const begun = Object.fromEntries(Array.from({ length: texts }, (_, n) => [`n${n}`, "ends with sk-01"]));
    assert.deepEqual(mask.take(Buffer.from(JSON.stringify(begun))), [], "it waits");
    const event = Buffer.from(JSON.stringify({ other: "text" }));
    return countedWork(() => {
      for (let n = 0; n < 20; n++) assert.deepEqual(mask.take(event), []);
    });
  };
  assert.ok(workBehind(800) <= workBehind(10) * 1.5, `${workBehind(10)} grows to ${workBehind(800)}`);
});
