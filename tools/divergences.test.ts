import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { CONFIG_ROWS } from "#app/config/config-schema.ts";
import { ROOT } from "./steps.ts";

const FOLDER = "docs/divergences";
const INDEX = `${FOLDER}/README.md`;
/** The labels of an item, in this order. */
const PARTS = ["Vendor", "Selvedge", "Why", "Setting"];
/** An item that needs more describes a feature: that belongs into a guide. */
const WORDS_MAX = 120;

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = globSync(`${FOLDER}/*.md`, { cwd: ROOT }).filter((path) => path !== INDEX);
const items = pages.flatMap((path) =>
  read(path)
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ name: `${path}: ${text.split("\n", 1)[0]}`, text })),
);

test("divergences are short items that say what Selvedge does", () => {
  assert.ok(items.length > 250, `${items.length} items`);
  for (const { name, text } of items) {
    const parts = [...text.matchAll(/^- \*\*(?<part>\w+)\*\*: /gm)].map(({ groups }) => groups?.["part"] ?? "");
    assert.deepEqual(
      parts,
      PARTS.filter((part) => parts.includes(part)),
      name,
    );
    assert.ok(parts.includes("Selvedge"), name);
    const words = text.split(/\s+/).length;
    assert.ok(words <= WORDS_MAX, `${name} has ${words} words`);
  }
});

test("each area has one name, and the index lists each page", () => {
  const names = items.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
  const listed = [...read(INDEX).matchAll(/\]\((?<page>[\w-]+\.md)\)/g)].map(({ groups }) => groups?.["page"]);
  assert.deepEqual(listed.toSorted(), pages.map((path) => basename(path)).toSorted());
});

test("settings named in divergences exist", () => {
  const settings = items.flatMap(({ text }) =>
    [...(/^- \*\*Setting\*\*: (?<keys>.*)$/m.exec(text)?.groups?.["keys"] ?? "").matchAll(/`(?<key>[^`]+)`/g)].map(
      ({ groups }) => groups?.["key"],
    ),
  );
  assert.ok(settings.length > 20);
  assert.deepEqual(
    settings.filter((key) => !CONFIG_ROWS.has(key as never)),
    [],
  );
});
