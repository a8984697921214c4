import assert from "node:assert/strict";
import { test } from "node:test";
import { namedFiles, readImportGraph } from "./import-graph.ts";
import { reachedTests } from "./reached-tests.ts";
import { ROOT } from "./steps.ts";
import { unitTestFiles } from "./unit-tests.ts";

const graph = new Map([
  ["src/a/one.ts", []],
  ["src/a/two.ts", ["src/a/one.ts"]],
  ["src/a/reads-data.ts", []],
  ["src/a/one.test.ts", ["src/a/one.ts"]],
  ["src/a/two.test.ts", ["src/a/two.ts"]],
  ["src/a/data.test.ts", ["src/a/reads-data.ts"]],
  ["src/b/other.test.ts", ["docs/guide.md"]],
  ["src/b/pages.test.ts", ["docs"]],
  ["tools/pages.test.ts", []],
]);
const tests = [...graph.keys()].filter((path) => path.endsWith(".test.ts")).map((path) => ({ path, text: "" }));
const reached = (...changed: readonly string[]): readonly string[] => reachedTests(changed, tests, graph);

test("a change reaches the tests of the modules that import it, nearest first", () => {
  assert.deepEqual(reached("src/a/one.ts"), ["src/a/one.test.ts", "src/a/two.test.ts"]);
  assert.deepEqual(reached("src/a/two.ts"), ["src/a/two.test.ts"]);
  assert.deepEqual(reached("src/b/other.test.ts"), ["src/b/other.test.ts"]);
  assert.deepEqual(reached(), []);
});

test("a change of a data file reaches the tests that name it or a folder above it", () => {
  assert.deepEqual(reached("docs/guide.md"), ["src/b/other.test.ts", "src/b/pages.test.ts"]);
  assert.deepEqual(reached("docs/adr/new.md"), ["src/b/pages.test.ts"]);
});

test("a change of an unnamed file reaches the tests of the modules next to it", () => {
  assert.deepEqual(reached("src/a/rows.txt").toSorted(), ["src/a/data.test.ts", "src/a/one.test.ts", "src/a/two.test.ts"]);
});

test("a change of package-lock.json reaches all tests", () => {
  assert.equal(reached("package-lock.json").length, tests.length);
});

test("every change reaches the tests that read folders of the repository", () => {
  const reading = tests.map((one) => ({ ...one, text: one.path.startsWith("tools/") ? 'globSync("*.md", { cwd: ROOT })' : one.text }));
  assert.deepEqual(reachedTests(["README.md"], reading, graph), ["tools/pages.test.ts"]);
  assert.deepEqual(reachedTests([], reading, graph), []);
});

test("the graph has a module's imports, thread programs and data files, but not type-only imports", () => {
  const text = `
import type { A } from "./a.ts";
import { type B, type C as D } from "./b.ts";
import {
  type E,
  type F,
} from "#kernel/e.ts";
import { type G, g } from "./g.ts";
import "./h.ts";
export type { I } from "./i.ts";
export { j } from "../j.ts";
const late = import("#wire/k.ts");
const thread = new Worker(new URL(import.meta.resolve("#app/l.ts")));
const page = readFileSync(join(ROOT, "docs/m.md"), "utf8");
const version = import.meta.resolve("#package.json");
const route = "/zones/./n.ts";`;
  assert.deepEqual(namedFiles("src/kernel/x.ts", text), [
    ...["src/kernel/g.ts", "src/kernel/h.ts", "src/j.ts", "src/wire/k.ts", "src/app/l.ts"],
    ...["docs/m.md", "package.json"],
  ]);
});

test("in the sources the clock reaches hundreds of tests, a thread program or guide those that name it, a golden file those of its folder", () => {
  const sources = readImportGraph(ROOT);
  const all = unitTestFiles().map((path) => ({ path, text: "" }));
  assert.ok(reachedTests(["src/kernel/clock.ts"], all, sources).length > 100);
  assert.ok(reachedTests(["src/edge/worker.ts"], all, sources).includes("src/edge/worker.test.ts"));
  assert.ok(reachedTests(["docs/guides/rules.md"], all, sources).includes("src/rules/managed/body-rules.test.ts"));
  assert.ok(reachedTests(["test/golden/zones/new.zone"], all, sources).includes("src/wire/zone-files/zonefile.test.ts"));
});
