import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./steps.ts";

const sources = globSync("src/**/*.ts", { cwd: ROOT, exclude: ["**/*.test.ts", "**/testing/**"] }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), "utf8"),
}));

test("no source file uses its own path, because a build moves it", () => {
  assert.ok(sources.length > 1000, `${sources.length} sources`);
  const asking = sources.filter(({ text }) => /\bimport\.meta\.(?!resolve\b)\w|\b__(dir|file)name\b/.test(text));
  assert.deepEqual(
    asking.map(({ path }) => path),
    [],
  );
});

test("no source imports node:http but for its types, because an import of it loads fetch in each thread", () => {
  const importing = sources.filter(({ text }) => /^import (?!type\b)[^;"]*from "node:http";|import\("node:http"\)/m.test(text));
  assert.deepEqual(
    importing.map(({ path }) => path),
    [],
  );
});

test("each thread program is named so that the build finds it", () => {
  const named = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/import\.meta\.resolve\(([^)]*)\)/g)].map(([, argument = ""]) => ({ path, argument })),
  );
  assert.ok(named.length >= 10, `${named.length} names`);
  for (const { path, argument } of named) {
    const [, name = ""] = /^"#([\w/.-]+)"$/.exec(argument) ?? [];
    assert.ok(existsSync(join(ROOT, name === "package.json" ? name : `src/${name}`)), `${path}: ${argument}`);
  }
  const others = sources.filter(({ text }) => /\bnew Worker\((?!new URL\((import\.meta\.resolve\("|spec\.script))/.test(text));
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
});
