import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexError } from "#rules/regex/regex-syntax.ts";
import { compileDetectors } from "./compiled.ts";
import { type CustomPattern, customDetector, customDetectors } from "./custom.ts";
import { CUSTOM_TRIES_MAX } from "./scan.ts";
import { scanText } from "./scan-text.ts";

const custom = (pattern: string, more: Partial<CustomPattern> = {}) =>
  customDetector({ id: "f".repeat(32), name: "x", pattern, context: [], validator: "none", tags: [], ...more });

test("a pattern is found by its first characters or its first digit", () => {
  for (const [pattern, body, offsets] of [
    ["EMP-\\d{4}", "EMP-1234 XEMP-5678 EMP-12", [0, 10]],
    ["(?:EMP|STAFF)-\\d{4}", "STAFF-1234 and EMP-9999", [0, 15]],
    ["\\bEMP-\\d{4}\\b", "EMP-12345 EMP-1234", [10]],
    ["\\d{2}/[A-Z]{3}", "12/ABC 1234/ABC x12/ABC 34/DEF", [0, 24]],
    ["7[0-9]-(a|b)+", "79-abba 69-a", [0]],
    ["(?i)emp-\\d{4}", "emp-1234 EMP-1234 eMp-1234 amp-1234", [0, 9, 18]],
    ["[Ee]mp-\\d{4}", "emp-1234 EMP-1234 Emp-1234", [0, 18]],
  ] as const) {
    const { findings } = scanText(compileDetectors([custom(pattern)]), body);
    assert.deepEqual(
      findings.flatMap(({ hits }) => hits.map(({ offset }) => offset)),
      offsets,
      pattern,
    );
  }
});

test("characters beyond ASCII are found as UTF-8, and error positions count characters", () => {
  for (const [pattern, body, found] of [
    ["Kundennummer-Ä\\d+", "eine Kundennummer-Ä77.", "Kundennummer-Ä77"],
    ["ÄÖÜ\\d{2}", "xx ÄÖÜ12", "ÄÖÜ12"],
    ["客户编号\\d{4}", "的客户编号1234", "客户编号1234"],
    ["(?i)straße-(?:ä|ö)\\d", "STRAße-ö5", "STRAße-ö5"],
    ["Gruß+-ä?\\d", "Grußß-7", "Grußß-7"],
    ["客户编号号{2}\\d", "客户编号号号1", "客户编号号号1"],
  ] as const) {
    const { findings } = scanText(compileDetectors([custom(pattern)]), body);
    assert.deepEqual(
      findings.flatMap(({ hits }) => hits.map(({ text }) => Buffer.from(text, "latin1").toString())),
      [found],
      pattern,
    );
  }
  assert.throws(() => custom("ÄÖÜ-("), { name: "RegexError", at: 4 });
  assert.throws(() => custom("(?u)EMP-\\p{L}+"), /\(\?u\) is not supported here/);
  // Three bytes, and one character.
  assert.throws(() => custom("客\\d+"), /at least 3 literal characters/);
});

test("a pattern with a long literal start is found at any distance from a block's end", () => {
  // Its rarest characters come last, and are what it would be found by.
  const text = `${"e".repeat(120)}QZX`;
  const detectors = compileDetectors([custom(`${text}\\d`)]);
  for (let before = -600; before < 200; before += 7) {
    const { findings } = scanText(detectors, `${" ".repeat(64 * 1024 - before)}${text}1`.padEnd(80 * 1024));
    assert.equal(findings.length, 1, `${before} bytes before it`);
  }
});

test("patterns without a literal start, and invalid ones, are refused", () => {
  for (const pattern of [
    "[a-z]{4}-\\d",
    "ab\\d+",
    ".*secret",
    "(?:EMP-|x)\\d",
    "^EMP-\\d",
    "(EMP-",
    "[abcd]xyz",
    "[E7]mp",
    "\\p{Greek}+",
    "",
  ])
    assert.throws(() => custom(pattern), RegexError, pattern);
});

test("stored patterns that this version refuses do not affect the others", () => {
  const pattern = (text: string): CustomPattern => ({ id: text, name: text, pattern: text, context: [], validator: "none", tags: [] });
  assert.deepEqual(
    customDetectors([pattern("EMP-("), pattern("EMP-\\d")]).map(({ rule_id }) => rule_id),
    ["EMP-\\d"],
  );
});

test("a body full of pattern starts uses up the patterns' own budget, and the rest is still scanned", () => {
  const detectors = compileDetectors([custom("EMP-(?:a|b|ab){1,60}c"), custom("CARD\\d{3}", { id: "e".repeat(32) })]);
  const full = scanText(detectors, `CARD123 ${"EMP-ababababababababab".repeat(2 * CUSTOM_TRIES_MAX)}`);
  assert.deepEqual([full.limited, full.findings.length], [true, 1]);
  assert.equal(scanText(detectors, "EMP-abc CARD123").limited, false);
});

test("a pattern that starts with a digit is found after a thousand other numbers, and so are fifty such patterns", () => {
  const text = `${"order 11112222\n".repeat(1000)}account 12345674`;
  const account = custom("\\d{8}", { context: ["account"], validator: "luhn" });
  const others = Array.from({ length: 49 }, (_, n) => custom(`[0-9]{6}-${n}`, { id: String(n).padStart(32, "0") }));
  const alone = scanText(compileDetectors([account]), text);
  assert.deepEqual([alone.limited, alone.findings.length], [false, 1]);
  const among = scanText(compileDetectors([...others, account]), text.slice(-15 * 100));
  assert.deepEqual([among.limited, among.findings.length], [false, 1]);
});

test("large patterns get fewer tries, because each one takes longer", () => {
  const triesOf = (pattern: string): number => custom(pattern).tries ?? 1;
  assert.ok(triesOf("EMP-\\d{6}") < 1, "of the runtime's own engine");
  assert.equal(triesOf("EMP-[a-z]+x[a-z]+y[a-z]+z"), 1);
  assert.ok(triesOf("EMP-(?:a|b|ab){1,150}c") > 10);
  const text = "EMP-ababab ".repeat(50);
  assert.equal(scanText(compileDetectors([custom("EMP-(?:a|b|ab){1,10}c")]), text).limited, false);
  assert.equal(scanText(compileDetectors([custom("EMP-(?:a|b|ab){1,150}c")]), text).limited, true);
});
