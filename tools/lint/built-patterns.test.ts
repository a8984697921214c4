import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILT_PATTERNS } from "./built-patterns.ts";
import { problemOf } from "./linear-rule.ts";
import { loadedPatterns } from "./loaded-patterns.ts";

test("patterns built at module load are as linear as literal ones", async () => {
  const loaded = await loadedPatterns();
  for (const { file, pattern } of loaded)
    assert.equal(
      problemOf(pattern, () => pattern.bytes),
      undefined,
      `${file}: ${pattern.source}`,
    );
  const files = BUILT_PATTERNS.filter(({ how }) => how === "loaded").map(({ file }) => file);
  // A file that builds none is not to be listed.
  assert.deepEqual([...new Set(loaded.map(({ file }) => file))].toSorted(), files.toSorted());
});
