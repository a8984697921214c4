import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { MANAGED_RULESETS, useOperatorRules } from "#rules/managed/rulesets.ts";
import { MANAGED, MANAGED_RULESET_ID, SCORES, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { managedMatches } from "#rules/managed/testing/managed-request.ts";
import { readOperatorRows } from "./operator-rows-file.ts";

const folder = mkdtempSync(join(tmpdir(), "selvedge-rows-"));
after(() => rmSync(folder, { recursive: true }));
afterEach(() => useOperatorRules({ core: null, rows: [] }));

function file(text: string): string {
  const path = join(folder, "rows.toml");
  writeFileSync(path, text);
  return path;
}

/** A row of its members, as TOML. */
function rowText(name: string, members: Readonly<Record<string, string | undefined>> = {}): string {
  const all = {
    ...{ title: '"An export"', category: '"protocol"', pattern: String.raw`'/export/orders\.csv'` },
    ...{ hits: '["/export/orders.csv"]', misses: '["/export/orders"]' },
    ...members,
  };
  const lines = Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [`${key} = ${value}`]));
  return `[rows.${name}]\n${lines.join("\n")}\n`;
}

const many = (count: number, members: (i: number) => Readonly<Record<string, string>>): string =>
  Array.from({ length: count }, (_, i) => rowText(`r${i}`, members(i))).join("");

/** Files that cannot be used, and what the server says of them behind the file's name. */
const WRONG: readonly (readonly [text: string, says: RegExp])[] = [
  ["a = 1", /:1:5: unknown key "a"; a row is a table \[rows\.NAME\]/],
  ["\n  rows = 1", /:2:10: a row is a table \[rows\.NAME\]/],
  ["[[rows]]", /:1:1: a row is a table/],
  ['[rows.a]\ntitle = "x', /:2:9: /],
  ["[rows.A]", /:1:1: A: the name of a row may have up to 64 lowercase letters, digits and -/],
  ["rows.a = 1", /:1:10: a: a row must be a table, \[rows\.a\]/],
  [rowText("a", { title: undefined }), /:1:1: a: title must be a text of 1 to 200 characters/],
  [rowText("a", { title: '""' }), /:2:9: a: title must be/],
  [rowText("a", { category: '"sql"' }), /:3:12: a: category must be one of sqli, xss/],
  [rowText("a", { pattern: "'(abc'" }), /:4:11: a: pattern, character 1: unclosed group/],
  [rowText("a", { pattern: "'[a-z]+[0-9]*'" }), /:4:11: a: pattern shows no literal of two or more bytes/],
  [rowText("a", { pattern: "'(?u)export'" }), /:4:11: a: pattern shows no literal/],
  [rowText("a", { pattern: "'/Export/'" }), /:4:11: a: pattern shows no literal of two or more bytes in small letters/],
  [rowText("a", { hits: '["/export/orders.csv", "/EXPORT/orders.txt"]' }), /:5:8: a: pattern does not find "\/EXPORT\/orders\.txt"/],
  [rowText("a", { hits: "[]" }), /:5:8: a: hits must be a list of 1 to 50/],
  [rowText("a", { misses: '["/x", "/EXPORT/orders%2ecsv"]' }), /:6:10: a: pattern finds "\/EXPORT\/orders%2ecsv", which is to be a miss/],
  [rowText("a", { places: '["anywhere"]' }), /:7:10: a: places must be one of path, arguments/],
  [rowText("a", { places: "[]" }), /:7:10: a: places must be a list of 1 to 8/],
  [rowText("a", { reading: '"html"' }), /:7:11: a: reading must be one of plain, sql, path, shell, lines/],
  [rowText("a", { paranoia: "5" }), /:7:12: a: paranoia must be one of 1, 2, 3, 4/],
  [rowText("a", { score: "0" }), /:7:9: a: score must be a whole number from 1 to 100/],
  [rowText("a", { score: "2.5" }), /:7:9: a: score must be a whole number/],
  [rowText("a", { certainty: '"sure"' }), /:7:13: a: certainty must be one of certain, likely, possible/],
  [rowText("a") + rowText("b", { action: '"block"' }), /:13:10: b: unknown member "action"; known are title, category/],
  [rowText("a") + rowText("a"), /:7:/],
  [many(201, () => ({})), /: more than 200 rows/],
  [
    many(40, (i) => ({
      pattern: `'${Array.from({ length: 40 }, (_, n) => `w${i}x${n}${"y".repeat(20)}`).join("|")}'`,
      hits: `["w${i}x0${"y".repeat(20)}"]`,
    })),
    /:\d+:11: r\d+: the literals of the rows up to this one are longer than 32768 bytes: use fewer alternatives/,
  ],
  ["#".repeat((1 << 20) + 1), /rows\.toml: the file is larger than 1 MiB/],
];

for (const [i, [text, says]] of WRONG.entries())
  test(`a file with an error is refused with its place: ${i} ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.throws(
      () => readOperatorRows(file(text)),
      (error: Error) => says.test(error.message) || assert.fail(error.message),
    );
  });

test("rows match in their places, add to scores, and are listed after the built-in rules as the operator's", () => {
  const rows = readOperatorRows(
    file(
      rowText("orders", { places: '["path"]' }) +
        rowText("coupon", { pattern: "'coupon=free'", hits: '["COUPON=free"]', misses: '["coupon"]', certainty: '"likely"', score: "40" }) +
        rowText("hidden", { pattern: "'grüße-(a+)+b'", hits: '["Grüße-aab"]', misses: '["gruesse"]', paranoia: "3" }),
    ),
  );
  useOperatorRules({ core: null, rows });
  const [managed, scores] = [MANAGED_RULESET_ID, SCORES_RULESET_ID].map((id) => MANAGED_RULESETS.get(id)!);
  assert.deepEqual(
    managed!.rules.filter(({ categories }) => categories.includes("operator")).map(({ description, enabled }) => [description, enabled]),
    [
      ["An export", true],
      ["An export", false],
    ],
  );
  assert.equal(scores!.rules.length, SCORES.rules.length + 3);
  const idsOf = (ruleset: typeof MANAGED): readonly string[] => ruleset.rules.map(({ id }) => id);
  assert.deepEqual(
    idsOf(managed!).filter((id) => idsOf(MANAGED).includes(id)),
    idsOf(MANAGED),
    "own rows keep their ids and order",
  );
  const blocks = (id: string, request: object, overrides = {}): boolean =>
    managedMatches(id, request, overrides).some(({ action }) => action === "block");
  assert.ok(blocks(MANAGED_RULESET_ID, { path: "/EXPORT/orders%2Ecsv" }));
  assert.ok(!blocks(MANAGED_RULESET_ID, { query: "q=/export/orders.csv" }), "it looks at paths alone");
  assert.ok(!blocks(MANAGED_RULESET_ID, { query: "q=coupon%3Dfree" }), "what is likely is off");
  assert.ok(blocks(MANAGED_RULESET_ID, { query: "q=coupon%3Dfree" }, { categories: [{ category: "operator", enabled: true }] }));
  assert.ok(blocks(SCORES_RULESET_ID, { query: "q=coupon%3Dfree" }), "40 points are enough");
  assert.ok(blocks(MANAGED_RULESET_ID, { query: "q=1%27+union+select+a%2Cb+from+c--" }), "own rows go on");
  useOperatorRules({ core: null, rows: [] });
  assert.equal(MANAGED_RULESETS.get(MANAGED_RULESET_ID), MANAGED);
  assert.ok(!blocks(MANAGED_RULESET_ID, { path: "/export/orders.csv" }));
});

test("a pattern with exponential backtracking takes linear time, and its steps are counted", () => {
  const rows = readOperatorRows(file(rowText("slow", { pattern: "'begin(a|aa|a?)+c'", hits: '["beginac"]', misses: '["begin"]' })));
  useOperatorRules({ core: null, rows });
  const body = `begin${"a".repeat(100_000)}`;
  assert.deepEqual(managedMatches(MANAGED_RULESET_ID, { headers: { "content-type": ["text/plain"] }, body }), []);
  assert.equal(managedMatches(MANAGED_RULESET_ID, { headers: { "content-type": ["text/plain"] }, body: `${body}c` }).length, 1);
});

test("the example file of rows in the guide is valid", () => {
  const guide = readFileSync(new URL("../../../docs/guides/rules.md", import.meta.url), "utf8");
  const [, text = ""] = /```toml rows\.toml\n([^`]+)```/.exec(guide) ?? [];
  assert.deepEqual(
    readOperatorRows(file(text)).map(({ title }) => title),
    ["An export of all orders"],
  );
});
