import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { ruleDiffLines, diffRules } from "./rules-diff.ts";
import { type FileRule, fileRule, readRulesFile } from "./rules-file.ts";

const block = (ref: string | undefined, expression: string): FileRule => ({
  ...(ref === undefined ? {} : { ref }),
  expression,
  action: "block",
});
const PHASE = "http_request_firewall_custom";
const diffOf = (current: readonly FileRule[], wanted: readonly FileRule[]) => diffRules({ [PHASE]: current }, { [PHASE]: wanted });

test("a rule keeps its place in the zone by ref, or by saying the same", () => {
  const current = [block("a", "true"), block("b", "false")];
  assert.deepEqual(diffOf(current, [block(undefined, "true"), block("b", "false")]), []);
  const [changed] = diffOf(current, [block("b", "false"), block("a", "ssl"), block(undefined, "ssl")]);
  assert.deepEqual(changed?.changes, [
    { kind: "changed", before: block("a", "true"), rule: block("a", "ssl") },
    { kind: "added", rule: block(undefined, "ssl") },
  ]);
  assert.equal(changed?.isReordered, true);
  assert.deepEqual(ruleDiffLines([changed]), [PHASE, "  - block true", "  + block ssl", "  + block ssl", "  ~ the order of the rules"]);
});

test("property: a file of the zone's own rules changes nothing, and applying a diff gives the file's rules", () => {
  const rule = fc.record(
    { ref: fc.constantFrom("a", "b", "c", "d"), expression: fc.constantFrom("true", "false"), action: fc.constantFrom("block", "log") },
    { requiredKeys: ["expression", "action"] },
  );
  const withRefs = (rules: readonly FileRule[]): readonly FileRule[] => rules.map((one, index) => ({ ...one, ref: `r${index}` }));
  const rules = fc.uniqueArray(rule, { selector: ({ ref }) => ref ?? Symbol() });
  fc.assert(
    fc.property(rules, rules, (current, wanted) => {
      const stored = withRefs(current);
      assert.deepEqual(diffOf(stored, stored), []);
      const [diff] = diffOf(stored, wanted);
      if (diff === undefined) return assert.equal(stored.length, wanted.length);
      assert.deepEqual(
        diff.rules.map(({ expression, action }) => [expression, action]),
        wanted.map(({ expression, action }) => [expression, action]),
      );
      const refs = diff.rules.flatMap(({ ref }) => ref ?? []);
      assert.equal(new Set(refs).size, refs.length, "no rule of the zone is used twice");
    }),
  );
});

test("fields that the server makes and usual values are not in a file, and a wrong file is named with its fault", () => {
  const stored = {
    id: "1",
    version: "3",
    last_updated: "x",
    ref: "r",
    action: "block",
    expression: "true",
    enabled: true,
    description: "",
  };
  assert.deepEqual(fileRule({ ...stored, action_parameters: {} }), { ref: "r", expression: "true", action: "block" });
  assert.deepEqual(fileRule({ ...stored, enabled: false })["enabled"], false);
  const faults: readonly (readonly [string, RegExp])[] = [
    ["{", /^f is not JSON/],
    ["[]", /"zone" must be/],
    ['{"zone":"a.example"}', /"phases" must be/],
    ['{"zone":"a.example","phases":{"p":{}}}', /"phases\.p" must be a list/],
    ['{"zone":"a.example","phases":{"p":[{"action":"block"},7]}}', /rule 2 of p must be/],
  ];
  for (const [text, message] of faults) assert.throws(() => readRulesFile(text, "f"), { name: "CliError", message });
});
