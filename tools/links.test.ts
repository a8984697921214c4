import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./steps.ts";

const PAGES = ["*.md", "docs/*.md", "docs/{adr,divergences,guides,history,reference,reference/api}/*.md", "src/*/README.md"];

test("links between documents lead to files and headings that exist", () => {
  const pages = globSync(PAGES, { cwd: ROOT });
  assert.ok(pages.length > 130, `${pages.length} pages`);
  const dead = pages.flatMap((page) => {
    const prose = readFileSync(join(ROOT, page), "utf8").replaceAll(/^ *```.*?^ *```$/gms, "");
    return [...prose.matchAll(/\]\((?<link>[^)\s]+)\)/g)]
      .map(({ groups }) => groups?.["link"] ?? "")
      .filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`);
  });
  assert.deepEqual(dead, []);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return false;
  return heading === undefined || headings(readFileSync(file, "utf8")).includes(heading);
}

/** As GitHub makes anchors: in lower case, without punctuation, with dashes for spaces; and those that a page sets itself. */
function headings(text: string): readonly string[] {
  const set = [...text.matchAll(/<a id="(?<id>[^"]+)">/g)].map(({ groups }) => groups?.["id"] ?? "");
  const titles = [...text.matchAll(/^#+ (?<title>.*)$/gm)].map(({ groups }) => groups?.["title"] ?? "");
  return [...set, ...titles.map((title) => anchor(title))];
}

const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/\[(?<shown>[^\]]*)\]\([^)]*\)/g, "$<shown>")
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
