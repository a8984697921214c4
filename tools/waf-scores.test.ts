import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { toolOrSkip } from "../test/support/tools.ts";
import { coreScoreTable, DEBIAN_CORE_RULES, GUIDE, ownScoreTable, withScores } from "./docs/waf-scores.ts";

const guide = readFileSync(GUIDE, "utf8");

test("the guide has the score of one attack per class for our own rows", () => {
  assert.equal(withScores(guide, "own", ownScoreTable()), guide, "not current: run node tools/waf-scores.ts");
});

test("the guide has the scores of Debian's Core Rule Set, if it is the same version", { skip: toolOrSkip("modsecurity-crs") }, (t) => {
  const table = coreScoreTable(DEBIAN_CORE_RULES)!;
  if (!guide.includes(`\`${table.version}\`:`)) return t.skip(`the guide is of another version than ${table.version}`);
  assert.equal(withScores(guide, "core", table), guide, "not current: run node tools/waf-scores.ts");
});
