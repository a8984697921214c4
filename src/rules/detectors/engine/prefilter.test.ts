import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { type CompiledDetectors, compileDetectors } from "./compiled.ts";
import { INPUT_BYTES } from "#rules/detectors/prefilter/layout.ts";
import { type Prefilter } from "#rules/detectors/prefilter/prefilter.ts";
import { BodyScanner, scanBuffer } from "./scan.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

/** Leaves out nothing: every digit and every three bytes are places. */
function everyPlace(): Prefilter {
  const input = Buffer.alloc(INPUT_BYTES);
  const found = new Int32Array(2 * INPUT_BYTES);
  const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
  return {
    input,
    found,
    run: (from, to, length) => {
      input.fill(0, length);
      let count = 0;
      for (let at = from; at < to; at++) if (isDigit(input[at]) && !(at > 0 && isDigit(input[at - 1]))) found[count++] = at << 1;
      for (let at = from; at < to; at++) found[count++] = (at << 1) | 1;
      return count;
    },
  };
}

const ENABLED = DETECTORS.filter((detector) => detector.enabled);
const SETS = [
  DETECTORS,
  ENABLED,
  DETECTORS.filter(({ id }) => id.startsWith("secret.")),
  DETECTORS.filter(({ id }) => id.startsWith("fin.")),
];

const findings = (detectors: CompiledDetectors, body: Buffer): object => {
  // Unlimited, because the two scans spend a budget of candidates in different orders.
  const scanner = new BodyScanner(detectors, { candidatesMax: Number.POSITIVE_INFINITY });
  scanner.push(body);
  // In a fixed order: two detectors that find the same value are told in the order of their anchors, which the scans meet differently.
  const found = scanner.end().findings.map(({ detector, count, offset }) => ({ id: detector.id, count, offset }));
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
};

const EXAMPLES = DETECTORS.flatMap(({ hits, misses }) => [...hits, ...misses]);
/** Separators of numbers, and signs that are none: a prefilter that takes one for the other misses numbers. */
const BETWEEN = [
  " ",
  "-",
  ".",
  "/",
  ",",
  ";",
  ":",
  "=",
  "(",
  ")",
  "+",
  "\t",
  "%20",
  "%",
  "&nbsp;",
  "&#160;",
  "\\u00a0",
  "\\",
  "<b>",
  "\u00a0",
  "",
];
const REGROUPED = fc
  .tuple(fc.constantFrom(...EXAMPLES), fc.constantFrom(...BETWEEN), fc.constantFrom(...BETWEEN))
  .map(([example, first, others]) => example.replace(/(?<=\w)[ .-](?=\w)/, first).replace(/(?<=\w)[ .-](?=\w)/g, others));
const PARTS = fc.oneof(
  fc.constantFrom(...EXAMPLES),
  REGROUPED,
  fc.constantFrom(...BETWEEN),
  fc.constantFrom(
    "M12.5,3.25",
    "L 101.204 7.75 33",
    "opacity:.53;",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "#a12345",
    "2000/svg",
    "1,2,3",
    "DE 89.",
  ),
  fc.constantFrom(" ", "-", ".", "&nbsp;", "\u00a0", "\n", '"', "passport ", "tax id ", "0", "7f3a", "word"),
  fc.constantFrom("<b>", "</b>", "<wbr>", "&#52;", "\\u0034", "\uff14", ";&#97;"),
  fc.string({ maxLength: 12 }),
);

for (const [index, detectors] of SETS.entries()) {
  test(`set ${index}: a scan with the prefilter finds the same as a scan of every position`, () => {
    const compiled = compileDetectors(detectors);
    const naive = { ...compiled, prefilter: everyPlace() };
    fc.assert(
      fc.property(fc.array(PARTS, { minLength: 1, maxLength: 12 }), (parts) => {
        const body = Buffer.from(parts.join(""));
        assert.deepEqual(findings(compiled, body), findings(naive, body));
      }),
      { numRuns: 150 },
    );
  });
}

test("every example is found at every offset within a 16-byte block", () => {
  const compiled = compileDetectors(DETECTORS);
  for (const { id, hits } of DETECTORS) {
    for (let before = 0; before < 16; before++) {
      const scanner = new BodyScanner(compiled, { buffer: scanBuffer() });
      scanner.push(Buffer.from(`${" ".repeat(before)}${hits[0]}`));
      assert.ok(
        scanner.end().findings.some(({ detector }) => detector.id === id),
        `${id} after ${before} bytes`,
      );
    }
  }
});

test("data of an earlier input is not found again", () => {
  const { prefilter } = compileDetectors(ENABLED);
  prefilter.input.write("ghp_abcdef 4111111111111111 ".repeat(20));
  assert.ok(prefilter.run(0, 560, 560) > 0);
  prefilter.input.fill(0x20, 0, 20);
  assert.equal(prefilter.run(0, 20, 20), 0);
});

/** Ordinary text of pages and data, without anybody's numbers. */
const ORDINARY = [
  "2026-11-22T10:17:38.413Z GET /assets/app.3f9c1e7b42.js 200 1843 0.021",
  '"version": "24.21.0", "integrity": "sha512-l0h7x9b2c4", "node": ">=18.12 <25"',
  "rgba(12, 34, 56, 0.5) 1px solid #a1b2c3; width: 1280px; z-index: 9999",
  "the token of the path is a key, see https://www.example.com/docs/v2/index.html#section-4.1",
  "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b, 12 files changed, 345 insertions",
  "id: 6f1e2d3c-4b5a-6978-8695-a4b3c2d1e0f9, h264 mp4 utf8 x86 b64 s3 ec2 k8s i18n",
].join("\n");

test("the enabled detectors look at no digits of fractions", () => {
  const { prefilter } = compileDetectors(ENABLED);
  const drawing = "opacity:.5318136012499991;d:.123456789-.123456789,.987654321,(-.123456)";
  const bytes = prefilter.input.write(drawing);
  assert.equal(prefilter.run(0, bytes, bytes), 0);
  const cards = prefilter.input.write("4716461583322103 x.4716461583322103 _.4716461583322103");
  assert.equal(prefilter.run(0, cards, cards), 3);
});

test("the enabled detectors look at few positions of drawings, styles and lists of figures", () => {
  const { prefilter } = compileDetectors(ENABLED);
  const figures = [
    'd="M 12 101.204 207.51 98.117 L 33.2 104.871 12.34 987.123 c 10 221.33 44.106 121.99"',
    "[1212,3434,5656,7878],[23,456,789],[12,3456,7890],left:[123,45,6789]",
    "width:calc(100% - 12.5px);margin:33.33% 16.67%;flex:0 0 12345%",
    `data:image/png;base64,${"A".repeat(400)}=`,
  ].join("\n");
  const bytes = prefilter.input.write(figures);
  const places = prefilter.run(0, bytes, bytes);
  assert.ok(places <= 20, `${places} places in ${bytes} bytes`);
});

test("the enabled detectors look at few positions of an ordinary text", () => {
  const { prefilter } = compileDetectors(ENABLED);
  const bytes = prefilter.input.write(ORDINARY);
  const places = prefilter.run(0, bytes, bytes);
  // A form that is wide open, of letters and digits in any order, would be tried a hundred times here.
  assert.ok(places <= 12, `${places} places in ${bytes} bytes`);
});
