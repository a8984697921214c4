import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { compileDetectors } from "./compiled.ts";
import { BodyScanner, CANDIDATES_MAX, scanBuffer, type ScannerOptions, type ScanResult, WINDOW_BYTES } from "./scan.ts";
import { scanText } from "./scan-text.ts";
import { isJwt } from "#rules/detectors/checks/secret-checks.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

const compiled = compileDetectors(DETECTORS);

function scan(chunks: readonly Uint8Array[], options: ScannerOptions = {}): ScanResult {
  const scanner = new BodyScanner(compiled, options);
  for (const chunk of chunks) scanner.push(chunk);
  return scanner.end();
}

const summary = (result: ScanResult): object => result.findings.map(({ detector, count, offset }) => ({ id: detector.id, count, offset }));

test("every hit is found completely at every offset from a block's end", () => {
  const blockBytes = 700;
  for (const detector of DETECTORS) {
    const [hit = ""] = detector.hits;
    const expected = scan([Buffer.from(hit)]).findings.find((finding) => finding.detector === detector);
    assert.ok(expected);
    for (let before = blockBytes - 200; before <= blockBytes + 10; before++) {
      const body = Buffer.from(`${" ".repeat(before)}${hit}${" ".repeat(WINDOW_BYTES)}`);
      const finding = scan([body], { buffer: scanBuffer(blockBytes) }).findings.find((one) => one.detector === detector);
      assert.deepEqual([finding?.count, finding?.offset], [1, before + expected.offset], `${detector.id} after ${before} bytes`);
    }
  }
});

const TEXTS = [
  ...DETECTORS.flatMap((detector) => [...detector.hits, ...detector.misses]),
  "lorem ipsum ",
  "1234 5678 ",
  "AB12",
  "0".repeat(40),
  "-----BEGIN ",
  "AKIA",
  "card ",
];

test("findings do not depend on chunk boundaries", () => {
  const bodies = fc.array(fc.constantFrom(...TEXTS), { minLength: 1, maxLength: 40 }).map((parts) => Buffer.from(parts.join(" | ")));
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(5000), { maxLength: 20 }), (body, cuts) => {
      const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
      const chunks = places.slice(1).map((to, index) => body.subarray(places[index] ?? 0, to));
      const whole = summary(scan([body]));
      assert.deepEqual(summary(scan(chunks)), whole);
      assert.deepEqual(summary(scan(chunks, { buffer: scanBuffer(64) })), whole);
    }),
    { numRuns: 200 },
  );
});

test("repeated hits are counted, overlapping ones once", () => {
  const [visa] = summary(scan([Buffer.from("4716461583322103, 4716461583322103 and 4929 7226 5379 7141")])) as {
    id: string;
    count: number;
  }[];
  assert.deepEqual([visa?.id, visa?.count], ["fin.card_visa", 3]);
});

test("the candidate budget ends the scan, and the result says so", () => {
  const numbers = Buffer.from("4716461583322103 ".repeat(CANDIDATES_MAX + 1));
  const result = scan([numbers]);
  assert.equal(result.limited, true);
  assert.equal(result.findings[0]?.count, CANDIDATES_MAX);
  assert.equal(scan([numbers.subarray(0, 17 * CANDIDATES_MAX)]).limited, false);
  assert.equal(scan([Buffer.from("AKIA ".repeat(CANDIDATES_MAX + 1))]).limited, true);
});

test("a search for following text uses the budget: a body full of starts uses it up, a page full of links does not", () => {
  assert.equal(scan([Buffer.alloc(1024 * 1024, "MjM:")]).limited, true);
  const byDefault = compileDetectors(DETECTORS.filter(({ enabled }) => enabled));
  assert.equal(scanText(byDefault, Buffer.alloc(1024 * 1024, "<loc>https://www.shop.example/page</loc>\n")).limited, false);
});

test("a JWT header is an object that names an algorithm", () => {
  const told = (head: string): boolean => isJwt(`${Buffer.from(head).toString("base64url")}.e30.x`);
  for (const head of ['{"alg":"none"}', '{"typ":"JWT", "alg" : "HS256" }\n', '{"x":{"y":1},"alg":null}']) assert.ok(told(head), head);
  for (const head of ['{"alg":"none"', '{"x":"\\"alg\\""}', '{"x":{"alg":1}}', '{"alg"}', '["alg"]', "", '{"x":"alg"}'])
    assert.ok(!told(head), head);
});

test("a search for labels uses the budget by the length of text", () => {
  /** The largest number of repetitions that is looked at as a whole. */
  const within = (text: string): number => {
    let [least, most] = [0, CANDIDATES_MAX + 1];
    while (most - least > 1) {
      const middle = (least + most) >> 1;
      if (scan([Buffer.from(text.repeat(middle))]).limited) most = middle;
      else least = middle;
    }
    return least;
  };
  const numbers = within("4716461583322103 ");
  const fields = within('{"passport":"912803456"},');
  const cells = within("<td>passport</td><td>912803456</td>");
  const tags = within(`<p ${'data-x="'.repeat(30)}912803456`);
  assert.equal(numbers, CANDIDATES_MAX);
  // A megabyte of records has about as many of these.
  assert.ok(fields > CANDIDATES_MAX / 2 && cells > CANDIDATES_MAX / 3, `${fields} ${cells}`);
  assert.ok(tags < cells && cells < fields && fields < numbers, `${tags} ${cells} ${fields}`);
});

test("any bytes can be scanned", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) =>
      assert.equal(scan([bytes], { buffer: scanBuffer(100) }).bytes, bytes.length),
    ),
    { numRuns: 300 },
  );
});
