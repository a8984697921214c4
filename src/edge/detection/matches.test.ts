import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/compiled.ts";
import { scanText } from "#rules/detectors/scan-text.ts";
import { DETECTORS } from "#rules/detectors/table.ts";
import { textMaskerOf } from "#rules/detectors/text-masker.ts";
import { examine } from "./matches.ts";
import { testSubject } from "./test-subject.ts";

const TOKEN =
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
const CARD = "4716461583322103";
const detectors = compileDetectors(DETECTORS.filter(({ enabled }) => enabled));

test("nothing of what was found is in a match, also where it is a key of what else was found", () => {
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
