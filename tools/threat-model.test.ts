import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

// A sentence that no test holds is a wish.

const ROOT = dirname(import.meta.dirname);
const ROW = /^\| (?<sentence>[^|]+?) +\| \[[^\]]+\]\(\.\.\/(?<file>[^)]+)\): "(?<name>.+)" +\|$/;

interface Row {
  readonly sentence: string;
  readonly file: string;
  readonly name: string;
}

/** Rows of the tables, heads and rules left out. Throws for one that names no test. */
function rowsOf(text: string): readonly Row[] {
  const lines = text.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:Sentence |-)/.test(line));
  return lines.map((line) => {
    const groups = ROW.exec(line)?.groups;
    if (groups === undefined) throw new Error(`a sentence without a test: ${line}`);
    return groups as unknown as Row;
  });
}

/** Whether the file has a test of that name; behind what a template puts first, such as a number. */
const hasTest = ({ file, name }: Row): boolean => {
  if (!file.endsWith(".test.ts") || !existsSync(join(ROOT, file))) return false;
  const title = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:[tT]est|scenario)\\(\\s*["\`](?:\\$\\{[^}]*\\} )?${title}["\`]`).test(readFileSync(join(ROOT, file), "utf8"));
};

test("each sentence of the threat model names an existing test", () => {
  const rows = rowsOf(readFileSync(join(ROOT, "docs/threat-model.md"), "utf8"));
  assert.ok(rows.length > 40);
  assert.deepEqual(
    rows.filter((row) => !hasTest(row)),
    [],
  );
  const sentences = rows.map(({ sentence }) => sentence);
  assert.equal(new Set(sentences).size, sentences.length);
});

test("a sentence without a test, or with a deleted one, is reported", () => {
  assert.throws(() => rowsOf("| A visitor does nothing. | somewhere |"), /without a test/);
  const row = { sentence: "x", file: "tools/threat-model.test.ts", name: "no such" };
  assert.equal(hasTest(row), false);
  assert.equal(hasTest({ ...row, file: "tools/gone.test.ts" }), false);
});
