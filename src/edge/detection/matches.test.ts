import assert from "node:assert/strict";
import { test } from "node:test";
import { newEnvelopeKeys, openEnvelope } from "#kernel/crypto/envelope.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { customDetector } from "#rules/detectors/engine/custom.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { textMaskerOf } from "#rules/detectors/masking/text-masker.ts";
import { examine } from "./matches.ts";
import { testSubject } from "#edge/testing/subject.ts";

const TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
const CARD = "4716461583322103";
const detectors = compileDetectors(DETECTORS.filter(({ enabled }) => enabled));

test("a match never contains detected data, also not in the keys of its JSON path", () => {
  const body = Buffer.from(JSON.stringify({ sessions: { [TOKEN]: { card: CARD } }, cards: { [CARD]: 1 } }));
  const mask = textMaskerOf(detectors);
  const { matches } = examine(scanText(detectors, body), { subject: testSubject(), body, allowed: [], valueHash: () => "", mask });
  assert.deepEqual(
    matches.map(({ match }) => [match.detector, match.count, match.json_path]),
    [
      ["secret.jwt", 1, '$.sessions["[masked]"]'],
      ["fin.card_visa", 2, '$.sessions["[masked]"].card'],
    ],
  );
  const shown = JSON.stringify(matches.map(({ match }) => match));
  for (const part of [TOKEN.slice(0, 12), TOKEN.slice(-12), CARD.slice(0, 8), CARD.slice(-8)]) assert.ok(!shown.includes(part), part);
});

test("the encrypted copies of an event have a size limit, however many matches it has", () => {
  const long = "a".repeat(500);
  const own = Array.from({ length: 12 }, (_, n) => {
    // Short, since long patterns count for several tries.
    const pattern = `TXT${n}-[a-z]+`;
    return customDetector({ id: String(n).padStart(32, "0"), name: "Long", pattern, context: [], validator: "none", tags: [] });
  });
  const body = Buffer.from(own.map((_, n) => `TXT${n}-${long} `.repeat(20)).join(""));
  const { public_key, private_key } = newEnvelopeKeys();
  const subject = testSubject({ public_key });
  const compiled = compileDetectors(own);
  const { matches } = examine(scanText(compiled, body), { subject, body, allowed: [], valueHash: () => "", mask: textMaskerOf(compiled) });
  assert.deepEqual(
    matches.map(({ match }) => match.count),
    own.map(() => 20),
  );
  const copies = matches.map(({ match }) => (match.matched_data === undefined ? "[]" : openEnvelope(private_key, match.matched_data)));
  assert.equal((JSON.parse(copies[0] ?? "") as object[]).length, 16);
  assert.ok((JSON.parse(copies.at(-1) ?? "") as object[]).length < 16);
  const { length } = copies.join("");
  assert.ok(length > 60 * 1024 && length < 70 * 1024, `${length}`);
});

test("samples and copies are readable text in any charset", () => {
  const own = customDetector({
    id: "a".repeat(32),
    name: "Kunde",
    pattern: "Kündigung-\\d+-[^ ]+",
    context: [],
    validator: "none",
    tags: [],
  });
  const compiled = compileDetectors([own]);
  const { public_key, private_key } = newEnvelopeKeys();
  const subject = testSubject({ public_key, masked_sample: true });
  for (const body of [Buffer.from("zur Kündigung-12-größer da"), Buffer.from("zur K\xc3\xbcndigung-12-gr\xf6\xdfer da", "latin1")]) {
    const deps = { subject, body: null, allowed: [], valueHash: () => "", mask: textMaskerOf(compiled) };
    const [found] = examine(scanText(compiled, body), deps).matches;
    const isUtf8 = body.includes("ö");
    assert.equal(found?.match.sample, isUtf8 ? "Künd***********ößer" : "K\xc3\xbcn************\xf6\xdfer");
    const [copy] = JSON.parse(openEnvelope(private_key, found?.match.matched_data ?? "")) as { offset: number; text: string }[];
    assert.deepEqual(copy, { offset: 4, text: isUtf8 ? "Kündigung-12-größer" : "K\xc3\xbcndigung-12-gr\xf6\xdfer" });
  }
});

test("JSON paths mask keys that identify a person, also if no detector for that kind is enabled", () => {
  const people = { "jo@shop.test": { card: CARD }, "+41 44 668 18 00": [CARD], "not@anything": { n: CARD } };
  const plain = JSON.stringify(people);
  for (const text of [plain, plain.replaceAll("@", String.raw`\u0040`)]) {
    const body = Buffer.from(text);
    const pathWith = (json_path: string): string | undefined => {
      const allowed = [{ id: "1", json_path }];
      const mask = textMaskerOf(detectors);
      return examine(scanText(detectors, body), { subject: testSubject(), body, allowed, valueHash: () => "", mask }).matches[0]?.match
        .json_path;
    };
    assert.equal(pathWith("$.none"), '$["[masked]"].card');
    assert.equal(pathWith('$["[masked]"].card'), '$["[masked]"][0]', "allow-lists take what events tell");
    assert.equal(pathWith('$["[masked]"][*]'), '$["not@anything"].n');
  }
});
