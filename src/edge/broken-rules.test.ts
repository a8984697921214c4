import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { PHASES } from "#rules/phases.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;
before(async () => {
  origin = await httpOrigin((_req, res) => res.end("origin"));
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const statusOf = async (path: string): Promise<number> =>
  Number((await exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`)).slice(9, 12));

type Rules = Parameters<typeof rulesetOp>[4];
const CUSTOM = "http_request_firewall_custom";
const block = (path: string): Rules[number] => ({ action: "block", expression: `http.request.uri.path eq "${path}"` });

test("the edge leaves out stored rules that do not compile, counts and reports them, and runs all other rules of the zone", async () => {
  const broken: Rules = [
    { action: "block", expression: "no.such.field eq 1" },
    { action: "block", expression: "ip.src in $gone" },
    { action: "block", expression: 'http.request.uri.path matches "("' },
    { action: "log", expression: "((((" },
    { action: "block", expression: 7 as unknown as string },
    { action: "block", expression: "true", action_parameters: { response: { content: { expression: "lower(" } } } },
  ];
  edge.replica.apply([
    rulesetOp("z", "zone", "zone", CUSTOM, [block("/first"), ...broken, block("/last")]),
    rulesetOp("a", "account", "account", CUSTOM, [
      { action: "execute", expression: "true", action_parameters: { id: "a ruleset that is gone" } },
      { action: "an action of the future", expression: 'http.request.uri.path eq "/future"' },
      block("/account"),
    ]),
    rulesetOp("r", "zone", "zone", "http_ratelimit", [
      { action: "block", expression: "true", ratelimit: { characteristics: ["no.such.field"], period: 10, requests_per_period: 1 } },
      { action: "block", expression: "true", ratelimit: { period: 10 } },
      {
        action: "block",
        expression: 'http.request.uri.path eq "/limited"',
        ratelimit: { characteristics: ["ip.src"], period: 10, requests_per_period: 1 },
      },
    ]),
  ]);
  const statuses: number[] = [];
  for (const path of ["/", "/first", "/last", "/account", "/future", "/limited", "/limited"]) statuses.push(await statusOf(path));
  assert.deepEqual(statuses, [200, 403, 403, 403, 200, 200, 429]);
  const told = edge.warnings.map(({ ruleset_id, rule_id }) => `${String(ruleset_id)} ${String(rule_id)}`);
  assert.deepEqual(told, ["z z-2", "z z-3", "z z-4", "z z-5", "z z-6", "z z-7", "r r-1", "r r-2"]);
  assert.match(String(edge.warnings[0]?.["message"]), /unknown field "no\.such\.field"|failed to compile/);
  assert.equal(edge.metrics.samples().find(({ name }) => name === "selvedge_edge_rules_invalid_total")?.value, 8);
});

test("compiling a ruleset never throws, whatever is stored in it", () => {
  const junk = fc.anything({ maxDepth: 2 });
  const member = <T>(known: T) => fc.oneof({ weight: 3, arbitrary: fc.constant(known) }, { weight: 1, arbitrary: junk });
  const definition = fc.record({
    id: fc.string(),
    action: fc.oneof(fc.constantFrom("block", "execute", "skip", "score", "rewrite", "route", "set_config", "redirect"), junk),
    expression: member("true"),
    action_parameters: fc.oneof(junk, fc.record({ id: junk, overrides: junk, phases: junk, rules: junk, uri: junk, increment: junk })),
    description: fc.constant(""),
    enabled: fc.constant(true),
    ratelimit: fc.oneof(fc.constant(undefined), junk, fc.record({ characteristics: junk, period: junk, counting_expression: junk })),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...PHASES.map(({ name }) => name), "a phase of the future"),
      fc.array(definition, { maxLength: 4 }),
      (phase, rules) => {
        const compiled = compileRuleset({ id: "x", phase, rules: rules as unknown as RuleDefinition[] });
        assert.ok(compiled.rules.length + compiled.problems.length === rules.length);
      },
    ),
    { numRuns: 500 },
  );
});
