import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createFindings } from "./body-reading.ts";
import { addXmlBody } from "./xml.ts";

const elementsOf = (body: string): readonly (readonly [name: string, value: string])[] => {
  const findings = createFindings();
  addXmlBody(body, false, findings);
  return findings.args.filter(({ source }) => source === "element").map(({ name, value }) => [name, value]);
};
/** Without the tags, which are always inspected. */
const piecesOf = (body: string): readonly string[] => {
  const findings = createFindings();
  addXmlBody(body, false, findings);
  return findings.pieces.slice(1);
};

test("each text of a document is a value with the name of its element", () => {
  const body = '<?xml version="1.0"?><s:find xmlns:s="urn:x">\n  <id>7</id>\n  <name lang="en">Ada</name><q/>\n</s:find>';
  assert.deepEqual(elementsOf(body), [
    ["id", "7"],
    ["name", "Ada"],
  ]);
  assert.deepEqual(elementsOf("<a>b<c>d</c>e</a>"), [
    ["a", "b"],
    ["c", "d"],
    ["a", "e"],
  ]);
});

test("layout around a text does not belong to it, and a line break at its beginning alone does", () => {
  assert.deepEqual(elementsOf("<a>\n  b c\n</a>"), [["a", "b c"]]);
  assert.deepEqual(elementsOf("<a>\nid</a>"), [["a", "\nid"]]);
});

const WORDS = fc.stringMatching(/^[a-z' ;]{0,8}[a-z']$/);
const escaped = (text: string): string => text.replaceAll("'", "&#39;");
/** A text as XML can contain it: plain, with references, or with comments and sections in between. */
const written = fc.array(
  WORDS.chain((word) =>
    fc.constantFrom(word, escaped(word), `<![CDATA[${word}]]>`, `<!-- x -->${word}`, `${word}<?x y?>`).map((text) => ({ word, text })),
  ),
  { minLength: 1, maxLength: 4 },
);

test("property: however a text is written, it is one value", () => {
  fc.assert(
    fc.property(fc.array(written, { minLength: 1, maxLength: 5 }), (texts) => {
      const body = `<r>${texts.map((parts, i) => `<e${i}>${parts.map(({ text }) => text).join("")}</e${i}>`).join("\n")}</r>`;
      const values = texts.map((parts, i) => [`e${i}`, parts.map(({ word }) => word).join("")] as const);
      const isLayout = (text: string): boolean => text.startsWith(" ") && text.endsWith(" ");
      assert.deepEqual(
        elementsOf(body),
        values.map(([name, value]) => [name, isLayout(value) ? value.trim() : value]),
      );
      assert.deepEqual(piecesOf(body), [], "each text is the value of an element");
    }),
  );
});

test("a document is inspected as one text, too, if programs may read texts of several elements as one", () => {
  for (const body of [
    "<q>1' or <b/>1=1</q>",
    "<q>1' or<b>1</b>=1</q>",
    "<q><b>1</b>' or 1=1</q>",
    "<q>1' or 1=1</q></q>",
    "<q><b>1' or</q> 1=1</b>",
    "<q>1' or 1=1",
    "1' or <q/>1=1",
  ])
    assert.match(piecesOf(body)[0] ?? "", /^1 *' or *1 *=1$/, body);
});

test("time and memory grow linearly with the depth of a document", () => {
  const body = `${"<a>".repeat(200_000)}x${"</a>".repeat(200_000)}`;
  assert.deepEqual(elementsOf(body), [["a", "x"]]);
});
