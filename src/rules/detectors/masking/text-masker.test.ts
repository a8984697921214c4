import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { customDetector } from "#rules/detectors/engine/custom.ts";
import { FINDABLE_CHARS_MIN } from "#rules/detectors/engine/findable.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { createTextMasker, textMaskerOf } from "./text-masker.ts";

const mask = createTextMasker();
const CARD = "4716461583322103";

test("in a query only the values with a finding are hidden, plain or percent-encoded", () => {
  const key = "AKIA4QYHJT3NWBKLD2PX";
  assert.deepEqual(mask([`page=2&card=${CARD}&q=shoes`, "page=2", `a=${key}`, "a=%34716461583322103&b=1", "n=4716+4615+8332+2103"], "&"), [
    "page=2&card=[masked]&q=shoes",
    "page=2",
    "a=[masked]",
    "a=[masked]&b=1",
    "n=[masked]",
  ]);
});

test("a finding across separators masks the whole text, and so does one in a name", () => {
  assert.deepEqual(mask([`/pay/${CARD}/receipt`, "/pay/receipt"], "/"), ["/pay/[masked]/receipt", "/pay/receipt"]);
  assert.deepEqual(mask(["/go/postgres://admin:Tr0ub4dor7kQ@db.internal.net/main"], "/"), ["[masked]"]);
  assert.deepEqual(mask([`${CARD}=1`], "&"), ["[masked]"]);
  assert.deepEqual(mask([`bot ${CARD}`], ""), ["[masked]"]);
});

test("thousands of texts are scanned, and a text that could not be scanned is hidden", () => {
  const texts = Array.from({ length: 3000 }, (_, index) => (index % 500 === 7 ? `q=${CARD}` : `page=${index}&sort=name`));
  const shown = mask(texts, "&");
  assert.deepEqual(
    shown.flatMap((text, index) => (text === texts[index] ? [] : [index])),
    [7, 507, 1007, 1507, 2007, 2507],
  );
  const flood = Array.from({ length: 4000 }, (_, index) => 4_716_461_583_322_104 + (index % 3)).join(",");
  assert.ok(mask([flood, "page=1&sort=name"], "&")[0] === "[masked]");
  assert.equal(mask([flood, "page=1&sort=name"], "&")[1], "page=1&sort=name");
});

test("no enabled detector matches a text below the minimum length", () => {
  for (const { id, hits } of DETECTORS.filter(({ enabled }) => enabled))
    for (const hit of hits) assert.ok(hit.length >= FINDABLE_CHARS_MIN, id);
});

test("a masker with other detectors hides their matches, however short", () => {
  const pattern = customDetector({ id: "f".repeat(32), name: "x", pattern: "EMP-\\d{2}", context: [], validator: "none", tags: [] });
  const ownMask = textMaskerOf(compileDetectors([pattern]));
  assert.deepEqual(ownMask(["a=EMP-12&b=1", "EMP-12", `card=${CARD}`], "&"), ["a=[masked]&b=1", "[masked]", `card=${CARD}`]);
});
