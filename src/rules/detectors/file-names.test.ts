import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

const SECRETS = DETECTORS.filter(({ category, enabled }) => category === "secrets" && enabled);
const compiled = compileDetectors(SECRETS);

test("the hash in a file name is not a key, whatever the name starts with", () => {
  const starts = new Set(
    SECRETS.flatMap(({ anchors }) =>
      anchors.flatMap((anchor) => (anchor.kind === "literal" && /[-_.]$/.test(anchor.text) ? [anchor.text] : [])),
    ),
  );
  assert.ok(starts.size > 100);
  for (const start of starts)
    for (const algorithm of ["md5", "sha1", "sha256"])
      for (const end of [".svg", ".js", ".min.css", "@2x.png", ".woff2", ".js.map"]) {
        const text = `<img src="/assets/${start}${hash(algorithm, start + end, "hex")}${end}">`;
        const found = scanText(compiled, text).findings.map(({ detector }) => detector.id);
        assert.deepEqual(found, [], text);
      }
});
