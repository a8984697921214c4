import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "./compiled.ts";
import { BodyScanner, scanBuffer } from "./scan.ts";
import { scanText } from "./scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

// Values as pages, data and addresses write them; what a reader sees is the same.
const compiled = compileDetectors(DETECTORS);

const VALUES = [
  ["fin.card", "4716 4615 8332 2103"],
  ["fin.card", "4716-4615-8332-2103"],
  ["fin.card", "4716461583322103"],
  ["fin.iban", "DE89 3704 0044 0532 0130 00"],
  ["fin.iban", "DE89370400440532013000"],
  ["pii.ssn_us", "536-22-1945"],
  ["pii.email", "jane.doe42@post.shop.test"],
  ["secret.aws_access_key_id", "AKIA4Q7XKZ2M5LPW3RTD"],
  ["secret.stripe", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"],
  ["secret.slack", "xoxb-2147483647123-4872638712345-aB3dE5fG7hJ9kL1mN2pQ4rSt"],
  ["secret.connection_string", "postgres://app:s3cr3tPq9Zx@db4.internal:5432/shop"],
] as const;
const NUMBERS = VALUES.slice(0, 6);

type Form = (value: string) => string;
const each =
  (holds: RegExp, written: (code: number) => string): Form =>
  (value) =>
    Array.from(value, (char) => (holds.test(char) ? written(char.charCodeAt(0)) : char)).join("");
const between =
  (text: string): Form =>
  (value) =>
    value.replace(/.{4}(?=.)/g, `$&${text}`);
const hex = (code: number, figures = 0): string => code.toString(16).padStart(figures, "0");

/** Every value in them is found. */
const FORMS: readonly (readonly [name: string, form: Form])[] = [
  ["decimal entities", each(/./, (code) => `&#${code};`)],
  ["hexadecimal entities", each(/./, (code) => `&#x${hex(code)};`)],
  ["decimal entities for digits", each(/\d/, (code) => `&#${code};`)],
  ["hexadecimal entities for digits", each(/\d/, (code) => `&#x${hex(code)};`)],
  ["escapes of JSON", each(/./, (code) => `\\u${hex(code, 4)}`)],
  ["escapes of JSON for digits", each(/\d/, (code) => `\\u${hex(code, 4)}`)],
  ["escapes of scripts", each(/./, (code) => `\\x${hex(code, 2)}`)],
  ["escaped slashes", (value) => value.replaceAll("/", "\\/")],
  ["an address", encodeURIComponent],
  ["an address, every character", each(/./, (code) => `%${hex(code, 2).toUpperCase()}`)],
  ["places to break", between("<wbr>")],
  ["soft hyphens by name", between("&shy;")],
  ["a match in a search", (value) => `${value.slice(0, 6)}<em>${value.slice(6, 9)}</em>${value.slice(9)}`],
];
const FORMS_OF_NUMBERS: readonly (readonly [name: string, form: Form])[] = [
  ["full-width digits", each(/\d/, (code) => String.fromCharCode(code + 0xfee0))],
  ["full-width", each(/./, (code) => (code === 0x20 ? "\u3000" : String.fromCharCode(code + 0xfee0)))],
  ["Arabic digits", each(/\d/, (code) => String.fromCharCode(code + 0x630))],
  ["Persian digits", each(/\d/, (code) => String.fromCharCode(code + 0x6c0))],
  ["Devanagari digits", each(/\d/, (code) => String.fromCharCode(code + 0x936))],
  ["the first in bold", (value) => value.replace(/^\w{3,4}/, "<b>$&</b>")],
  ["the last in an element", (value) => value.replace(/\w{4}$/, '<span class="end">$&</span>')],
  ["each in an element", (value) => value.replace(/\w{2,4}/g, "<span>$&</span>")],
  ["a comment", (value) => `${value.slice(0, 9)}<!-- -->${value.slice(9)}`],
  ["soft hyphens", between("\u00ad")],
  ["spaces without width", between("\u200b")],
];
const CASES = [
  ...FORMS.flatMap(([name, form]) => VALUES.map(([id, value]) => ({ name, id, value, text: form(value) }))),
  ...FORMS_OF_NUMBERS.flatMap(([name, form]) => NUMBERS.map(([id, value]) => ({ name, id, value, text: form(value) }))),
].filter(({ name, id }) => !(id === "pii.email" && name === "a match in a search"));
/** Escaped letters begin with letters, so that a word before them would be a part of them: as in real bodies, a quote stands there. */
const labelled = (id: string, text: string): string => (id === "pii.ssn_us" ? `ssn: "${text}"` : `value: "${text}"`);

test("values are found in any encoding and markup", () => {
  const missed = CASES.filter(({ id, text }) => {
    const { findings } = scanText(compiled, labelled(id, text));
    return findings.find(({ detector }) => detector.id.startsWith(id))?.count !== 1;
  });
  assert.deepEqual(
    missed.map(({ name, text }) => `${name}: ${text}`),
    [],
  );
});

test("values are found once and at the same position wherever a block ends", () => {
  const BLOCK_BYTES = 96;
  const buffer = scanBuffer(BLOCK_BYTES);
  const wrong: string[] = [];
  for (const { name, id, text } of CASES) {
    for (let before = 0; before < BLOCK_BYTES; before += 5) {
      const scanner = new BodyScanner(compiled, { buffer });
      const body = Buffer.from(`${"word ".repeat(100)}${"x".repeat(before)} ${labelled(id, text)}${" word".repeat(200)}`);
      scanner.push(body);
      const finding = scanner.end().findings.find(({ detector }) => detector.id.startsWith(id));
      const first = body.indexOf(text);
      const isThere = finding !== undefined && finding.offset >= first && finding.offset < first + Buffer.byteLength(text);
      if (finding?.count !== 1 || !isThere) wrong.push(`${name} behind ${before}: ${text}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("a hit has the displayed value and its position in the body", () => {
  const spans: string[] = [];
  const text = "<td>&#52;716<b>4615</b>8332&#50;103</td>";
  const scanner = new BodyScanner(compiled, { onHit: (from, to) => spans.push(text.slice(from, to)) });
  scanner.push(Buffer.from(text));
  const { findings } = scanner.end();
  assert.deepEqual(
    findings.map(({ offset, hits }) => ({ offset, text: hits[0]?.text })),
    [{ offset: 4, text: "4716461583322103" }],
  );
  assert.deepEqual(spans, ["&#52;716<b>4615</b>8332&#50;103"]);
});

test("digits that are displayed separately are not one value", () => {
  for (const text of [
    "<td>4716</td><td>4615</td><td>8332</td><td>2103</td>",
    "<li>47164615</li><li>83322103</li>",
    "47164615<br>83322103",
    '<span title="4716">4615</span>83322103',
    "&#52;7164615833221039",
    "４７１６４６１５８３３２２１０４",
    "&#x110000;4716461583322104&#52;",
    "\\ud834716461583322103",
  ]) {
    assert.deepEqual(
      scanText(compiled, text)
        .findings.map(({ detector }) => detector.id)
        .filter((id) => id.startsWith("fin.card")),
      [],
      text,
    );
  }
});

test("a body full of candidates uses up the candidate budget", () => {
  for (const part of ["1</b>", "&#52;", "\\u0034", "４", "a1<wbr>", "%3A%2F%2Fa", "<em>a<em>"]) {
    assert.ok(scanText(compiled, Buffer.alloc(1024 * 1024, part)).limited, part);
  }
});
