import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

// Several people add rows at a time, and a merge that keeps both sides leaves two tables.

test("the table of divergences is one, and names each area once", () => {
  const text = readFileSync(join(dirname(import.meta.dirname), "docs/divergences.md"), "utf8");
  const areas = [...text.matchAll(/^\| (?<area>[^|]+?) +\|/gm)].map(({ groups }) => groups?.["area"] ?? "");
  const twice = areas.filter((area, i) => areas.indexOf(area) !== i);
  assert.ok(areas.length > 50);
  assert.deepEqual(twice, []);
});
