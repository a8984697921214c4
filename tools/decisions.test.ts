import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./steps.ts";

test("the index of decision records names each of them once, in order", async () => {
  const folder = join(ROOT, "docs/adr");
  const files = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
  const index = await readFile(join(folder, "README.md"), "utf8");
  assert.deepEqual(
    [...index.matchAll(/^\| \[\d{4}\]\((.+?)\)/gm)].map(([, name]) => name),
    files,
  );
});
