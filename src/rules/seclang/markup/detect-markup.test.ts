import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { ATTACKS } from "#rules/managed/testing/attacks.cases.ts";
import { BENIGN_VALUES } from "#rules/managed/testing/benign.cases.ts";
import { detectMarkup } from "./detect-markup.ts";

const ACTIVE = [
  '" onmouseover=alert(1) x="',
  "' autofocus onfocus=alert(1) '",
  "x onerror=alert(1)",
  '<x:script xmlns:x="http://www.w3.org/1999/xhtml" src="data:,alert(1)" />',
  '<a href="jav&#x09;ascript:alert(1)">',
  "<a/href=javascript:alert(1)>",
  "<!--[if IE]>",
  "<!DOCTYPE x [",
  "/get/\"onmouseover='prompt(document.cookie)'\"",
  "<svg/onload=alert()",
  "<xss onbeforehellfreezes=alert(1)>",
  '<p style="x:expression(alert(1))">',
];

const HARMLESS = [
  "a < b and c > d",
  "<b>bold</b>",
  "<p class='x'>hello</p>",
  '<img src="/a.png" alt="x">',
  '<a href="https://x.org/">x</a>',
  '<img src="data:image/png;base64,AAAA">',
  "if (a<b && c=d)",
  'x="on time"',
  "I <3 you = love",
  "Dear <name>, your order = 5",
  "foo=bar&onset=5",
  "'foo' onboarding=1",
  "</script>",
];

test("active markup is found as content and as an attribute value", () => {
  // Other rules look for scripts without markup, and transformations undo encodings.
  for (const attack of [...ATTACKS["xss"]!.filter((text) => /[<=]/.test(text)), ...ACTIVE]) assert.ok(detectMarkup(attack), attack);
});

// Declarations, styles and drawings: the same rules of the Core Rule Set ask for them.
const DECLARED = /^<(?:\?xml|!DOCTYPE|svg|p style)/;

test("inactive markup and plain text do not match", () => {
  for (const text of [...BENIGN_VALUES.filter((value) => !DECLARED.test(value)), ...HARMLESS]) assert.ok(!detectMarkup(text), text);
});

test("an event handler is found after nested tags, unterminated values and long names", () => {
  for (const piece of ["error<", "<a ", "<a/b=", "<a b=", "<a/", "<a=", "<a\0", '<a x=y"', "<a b='<' "])
    for (const tag of ["<script>", " <b onclick=x>", "'><b onclick=x>", '"><b onclick=x>'])
      assert.ok(detectMarkup(`${piece.repeat(200)} ${tag}`), JSON.stringify([piece, tag]));
});

test("any text gives a result without an error", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("<", ">", "=", '"', "'", "`", "/", "!", "--", " ", "\0", "on", "href", "script", "&#", "x"),
        maxLength: 300,
      }),
      (text) => {
        assert.equal(typeof detectMarkup(text), "boolean");
      },
    ),
  );
});
