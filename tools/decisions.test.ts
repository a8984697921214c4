import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./steps.ts";

test("the index of decision records lists each of them once, in order", async () => {
  const folder = join(ROOT, "docs/adr");
  const files = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
  const index = await readFile(join(folder, "README.md"), "utf8");
  assert.deepEqual(
    [...index.matchAll(/^\| \[\d{4}\]\((.+?)\)/gm)].map(([, name]) => name),
    files,
  );
});

test("a decision record has a unique number, its title repeats it, and every reference finds its record", async () => {
  const folder = join(ROOT, "docs/adr");
  const files = (await readdir(folder)).filter((name) => name !== "README.md");
  const numbers = files.map((name) => name.slice(0, 4));
  assert.deepEqual(
    numbers.filter((number, at) => numbers.indexOf(number) !== at),
    [],
  );
  for (const name of files)
    assert.ok((await readFile(join(folder, name), "utf8")).startsWith(`# ${name.slice(0, 4)}: `), `${name}: its title has another number`);
  const sources = globSync("{src,tools,test,bin}/**/*.{ts,js}", { cwd: ROOT });
  const named = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/\bADR (\d{4})\b/g)].map(([, number = ""]) => ({ file, number })),
  );
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter(({ number }) => !numbers.includes(number)),
    [],
  );
});
