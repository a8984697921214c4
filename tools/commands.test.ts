import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./steps.ts";

test("no inline command is broken over two lines, so that a reader can copy it", () => {
  const pages = globSync(["*.md", "docs/*.md", "docs/{adr,divergences,guides}/*.md", "src/*/README.md"], { cwd: ROOT });
  assert.ok(pages.length > 80, `${pages.length} pages`);
  const broken = pages.flatMap((page) => {
    const prose = readFileSync(join(ROOT, page), "utf8").replaceAll(/^ *```.*?^ *```$/gms, "");
    return prose
      .split(/\n\s*\n/)
      .flatMap((paragraph) => paragraph.match(/`[^`]+`/g) ?? [])
      .filter((code) => code.includes("\n"))
      .map((code) => `${page}: ${code}`);
  });
  assert.deepEqual(broken, []);
});
