import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { contentKey, joinedText, quoteText, readText } from "./dns-text.ts";

test("SPEC 2.2 and SPEC 7.4: content without quotes gets them, quoted content stays, and half-quoted content is inconsistent", () => {
  assert.equal(quoteText("v=spf1 -all"), '"v=spf1 -all"');
  assert.equal(quoteText('"v=spf1 -all"'), '"v=spf1 -all"');
  assert.equal(quoteText('"one" "two"'), '"one" "two"');
  assert.equal(quoteText(' "one""two" '), '"one""two"');
  assert.equal(quoteText('"say \\"hi\\""'), '"say \\"hi\\""');
  assert.equal(quoteText('say \\"hi\\"'), '"say \\"hi\\""');
  assert.equal(quoteText('""'), '""');
  for (const content of ['"', '"a', 'a"', 'a"b', '"a" b', 'a "b"', '"a" "b', '"a\\"', "a\\"])
    assert.equal(quoteText(content), undefined, content);
});

test("content that gets quotes is shown as it is served: without escapes that it does not need", () => {
  for (const [content, shown] of [
    [String.raw`v=DKIM1\; k=rsa\; p=abc`, '"v=DKIM1; k=rsa; p=abc"'],
    [String.raw`a\065b\032c`, '"aAb c"'],
    [String.raw`a\\b\092\034\"`, String.raw`"a\\b\\\"\""`],
    [String.raw`\000\195\188\é`, String.raw`"\000\195\188é"`],
    [String.raw`\25`, String.raw`"\25"`],
  ] as const)
    assert.equal(quoteText(content), shown);
  assert.equal(quoteText(String.raw`"a\;b"`), String.raw`"a\;b"`);
  assert.deepEqual(readText(String.raw`a\;b`, "as_sent"), { text: '"a;b"', shown: String.raw`a\;b` });
});

test("content gets quotes once and then never changes", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", '"', "\\", " ", "ü") }), (content) => {
      const quoted = quoteText(content);
      if (quoted === undefined) return;
      assert.equal(quoteText(quoted), quoted);
      assert.ok(quoted.startsWith('"') && quoted.endsWith('"'));
    }),
  );
});

test("filters find content regardless of quotes, case and white space", () => {
  assert.equal(contentKey('"v=spf1 -all"'), contentKey("V=SPF1  -all"));
  assert.equal(contentKey('"ab" "cd"'), contentKey("abcd"));
  assert.equal(contentKey('0\tissue\t"ca.example"'), contentKey('0 issue "ca.example"'));
  assert.equal(contentKey("mail.example.com."), contentKey("mail.example.com"));
  // One final dot goes, so that what had two has one left.
  const undotted = fc.string().map((text) => text.replaceAll(".", ""));
  fc.assert(
    fc.property(undotted, (content) => assert.equal(contentKey(contentKey(content)), contentKey(content))),
    { numRuns: 1000 },
  );
});

test("a backslash at the end is an escape if the number of adjacent ones is odd", () => {
  for (let count = 0; count < 6; count++) {
    const content = `a${"\\".repeat(count)}`;
    assert.equal(quoteText(content), count % 2 === 0 ? `"${content}"` : undefined, content);
  }
});

test("processing content takes linear time", () => {
  for (const piece of ["\\", '"', '""', '" ', '\\"', " ", '"a" '])
    assertGrowsLinearly(piece, (length) => {
      const content = `${piece.repeat(length / piece.length)}x`;
      return () => [quoteText(content), contentKey(content)];
    });
});

test("the strings of a record are joined, with escapes replaced", () => {
  assert.equal(joinedText('"one" "two"'), "onetwo");
  assert.equal(joinedText(String.raw`"say \"hi\" \097\\"`), String.raw`say "hi" a\ `.trimEnd());
  assert.equal(joinedText("plain"), "plain");
  for (const piece of [String.raw`\"`, '"', '" ', "\\", String.raw`" \"`])
    assertGrowsLinearly(piece, (length) => {
      const content = `"${piece.repeat(length / piece.length)}`;
      return () => joinedText(content);
    });
});

test("content as sent is shown unchanged and is the same on the wire, and content that cannot be quoted is refused in both forms", () => {
  for (const content of ["abc", '"abc"', 'v=spf1 "quoted" -all'.replaceAll('"', String.raw`\"`), "a;b", " spaced ", '"one"  "two"', ""]) {
    const quoted = readText(content, "quoted");
    assert.deepEqual(readText(content, "as_sent"), { text: quoted?.text, shown: content });
    assert.equal(quoted?.shown, quoted?.text);
  }
  for (const content of ['a"', '"a', 'a "b"', "a\\"])
    for (const form of ["quoted", "as_sent"] as const) assert.equal(readText(content, form), undefined);
});

test("content means the same with and without quotes", () => {
  for (const content of ["plain", String.raw`say \"hi\"`, String.raw`\097\098`, "two  spaces"])
    assert.equal(joinedText(content), joinedText(`"${content}"`));
});
