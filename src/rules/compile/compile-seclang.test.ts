import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ruleProblems } from "#rules/check.ts";
import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { SCORE_EXCEEDED_RULE_ID, SCORES_RULESET_ID, SECLANG_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { useOperatorRules } from "#rules/managed/rulesets.ts";
import { managedRequest, type RequestChanges } from "#rules/managed/testing/managed-request.ts";
import { createRegexTable, REGEX_POSITIONS_MAX } from "#rules/regex/regex-table.ts";
import { programOf } from "#rules/seclang/testing/requests.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { createRun } from "#rules/engine/run.ts";
import { testResponse } from "#rules/testing/views.ts";
import { compileRuleset, readsBody } from "./compile-ruleset.ts";

const PHASE = "http_request_firewall_managed";
const CORE = programOf(`
SecComponentSignature "OWASP_CRS/9.9.9"
SecAction "id:901000,phase:1,nolog,pass,setvar:tx.critical_anomaly_score=5"
SecRule ARGS "@contains attack" "id:942100,phase:2,block,msg:'An attack',severity:CRITICAL,tag:'attack-sqli',setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'"
SecRule ARGS|REQUEST_COOKIES "@contains evil" "id:942200,phase:2,block,msg:'Evil',severity:CRITICAL,tag:'attack-rce',setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'"
`);

afterEach(() => useOperatorRules({ core: null, rows: [] }));

const execute = (id: string, parameters: object, ruleId = "carries") => ({
  id: ruleId,
  action: "execute",
  action_parameters: { id, ...parameters },
  expression: "true",
  description: "",
  enabled: true,
});
const sum = execute(SCORES_RULESET_ID, { overrides: { rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: 5 }] } }, "sums");

/** Rule and action of each match, of the customer's text before the Core Rule Set; silent ones with a mark. */
function matchesOf(seclang: string, request: RequestChanges, more: object[] = []): readonly string[] {
  const rules = [...more, execute(SECLANG_RULESET_ID, { seclang }), sum] as Parameters<typeof compileRuleset>[0]["rules"];
  const entry = compileRuleset({ id: "entry", phase: PHASE, rules });
  assert.deepEqual(entry.problems, []);
  return runPhase([entry], createRun(), managedRequest(request), null).map(
    ({ rule, action, logs }) => `${rule.id === SCORE_EXCEEDED_RULE_ID ? "sum" : rule.id} ${action}${logs ? "" : " silent"}`,
  );
}

const useCore = (): void => useOperatorRules({ core: createCoreRuleSet(CORE, "ab".repeat(32)), rows: [] });

test("rules deny, log and allow, in their order", () => {
  const text = [
    `SecRule ARGS:q "@contains seen" "id:1,phase:1,pass,msg:'Seen'"`,
    `SecRule ARGS:q "@contains hidden" "id:2,phase:1,pass,nolog,setvar:tx.hidden=1"`,
    `SecRule TX:HIDDEN "@eq 1" "id:3,phase:2,deny"`,
    `SecRule REQUEST_HEADERS:X-Admin "@streq yes" "id:4,phase:2,allow,nolog"`,
    `SecRule ARGS "@rx ^[a-z]+\\d{3}$" "id:5,phase:2,block,chain"`,
    `  SecRule REQUEST_METHOD "@streq GET"`,
  ].join("\n");
  assert.deepEqual(matchesOf(text, { query: "q=nothing" }), []);
  assert.deepEqual(matchesOf(text, { query: "q=seen" }), ["1 log"]);
  assert.deepEqual(matchesOf(text, { query: "q=seen+hidden" }), ["1 log", "3 block"]);
  assert.deepEqual(matchesOf(text, { query: "q=abc123" }), ["5 block"]);
  assert.deepEqual(matchesOf(text, { query: "q=abc123", headers: { "X-Admin": ["yes"] } }), ["4 skip silent"]);
  assert.deepEqual(matchesOf(`SecRuleEngine DetectionOnly\n${text}`, { query: "q=abc123" }), ["5 log"]);
  assert.deepEqual(matchesOf(`SecRuleEngine Off\n${text}`, { query: "q=abc123" }), []);
});

/** Texts about rules of the Core Rule Set, and whether its sum stops these requests then: an attack in `q`, in `otherx`, evil in a cookie. */
const ABOUT_CORE: readonly (readonly [seclang: string, stopped: readonly [boolean, boolean, boolean]])[] = [
  [`SecAction "id:1,phase:1,pass,nolog"`, [true, true, true]],
  ["SecRuleRemoveById 942100", [false, false, true]],
  ["SecRuleRemoveById 942000-942299", [false, false, false]],
  ["SecRuleRemoveByTag attack-rce", [true, true, false]],
  ["SecRuleRemoveByMsg Evil", [true, true, false]],
  ['SecRuleUpdateTargetById 942100 "!ARGS:q"', [false, true, true]],
  ['SecRuleUpdateTargetById 942100 "!ARGS"', [false, false, true]],
  ['SecRuleUpdateTargetById 942100 "!ARGS:/^oth/"', [true, false, true]],
  ['SecRuleUpdateTargetByTag attack-rce "!REQUEST_COOKIES"', [true, true, false]],
  [`SecRule REQUEST_URI "@beginsWith /a/" "id:1,phase:1,pass,nolog,ctl:ruleRemoveById=942100"`, [false, false, true]],
  [`SecRule REQUEST_URI "@beginsWith /b/" "id:1,phase:1,pass,nolog,ctl:ruleRemoveById=942100"`, [true, true, true]],
  [`SecRule REQUEST_URI "@beginsWith /a/" "id:1,phase:1,pass,nolog,ctl:ruleRemoveTargetById=942100;ARGS:q"`, [false, true, true]],
  [`SecRule REQUEST_URI "@beginsWith /a/" "id:1,phase:1,pass,nolog,ctl:ruleRemoveTargetByTag=attack-.*;ARGS"`, [false, false, true]],
  [`SecRule REQUEST_URI "@beginsWith /a/" "id:1,phase:1,pass,nolog,ctl:ruleEngine=Off"`, [false, false, false]],
  [`SecRule ARGS:q "@rx ." "id:1,phase:1,allow,nolog"`, [false, true, true]],
];

for (const [seclang, stopped] of ABOUT_CORE)
  test(`a text can say what it excludes from the Core Rule Set: ${seclang}`, () => {
    useCore();
    const requests: readonly RequestChanges[] = [{ query: "q=attack" }, { query: "otherx=attack" }, { headers: { Cookie: ["a=evil"] } }];
    assert.deepEqual(
      requests.map((request) => matchesOf(seclang, request).includes("sum block")),
      stopped,
    );
  });

test("texts are independent: exclusions in one do not affect another's Core Rule Set", () => {
  useCore();
  matchesOf("SecRuleRemoveById 942100", { query: "q=attack" });
  assert.ok(matchesOf("SecRuleRemoveById 942200", { query: "q=attack" }).includes("sum block"));
});

test("an exception excludes one rule of the text, or a target of a rule", () => {
  const text = `SecRule ARGS "@contains shop" "id:7,phase:2,deny,msg:'Shop'"`;
  const skip = (parameters: object): object => ({
    ...execute("", {}, "spares"),
    action: "skip",
    action_parameters: { rules: { [SECLANG_RULESET_ID]: ["7"] }, ...parameters },
  });
  assert.deepEqual(matchesOf(text, { query: "q=shop" }), ["7 block"]);
  assert.deepEqual(matchesOf(text, { query: "q=shop" }, [skip({})]), ["spares skip"]);
  const part = skip({ matched: { part: "ARGS", name: "q" } });
  assert.deepEqual(matchesOf(text, { query: "q=shop" }, [part]), ["spares skip"]);
  assert.deepEqual(matchesOf(text, { query: "r=shop" }, [part]), ["spares skip", "7 block"]);
});

test("a match has its variable and value", () => {
  const entry = compileRuleset({
    id: "entry",
    phase: PHASE,
    rules: [execute(SECLANG_RULESET_ID, { seclang: `SecRule ARGS "@contains shop" "id:7,phase:2,deny,msg:'Shop'"` })],
  });
  const [match] = runPhase([entry], createRun(), managedRequest({ query: "q=a+shop" }), null);
  assert.deepEqual([match?.ruleset_id, match?.deployed_by, match?.rule.description], [SECLANG_RULESET_ID, "carries", "7: Shop"]);
  assert.deepEqual(match?.found, [{ rule_id: "7", places: [{ part: "ARGS", name: "q", value: "a shop" }], score: 0 }]);
});

test("response rules see the header section, and variables set by request rules", () => {
  const seclang = [
    `SecRule ARGS:q "@rx ." "id:1,phase:1,pass,nolog,setvar:tx.asked=1"`,
    `SecRule RESPONSE_HEADERS:X-Debug "@rx ." "id:2,phase:3,deny,chain"`,
    `SecRule TX:ASKED "@eq 1"`,
    `SecRule RESPONSE_STATUS "@ge 500" "id:3,phase:3,pass"`,
  ].join("\n");
  const entry = compileRuleset({ id: "entry", phase: "http_response_firewall_managed", rules: [execute(SECLANG_RULESET_ID, { seclang })] });
  assert.deepEqual([entry.problems, entry.judges, readsBody([entry])], [[], true, false]);
  const found = (query: string, status: number, headers: Readonly<Record<string, string[]>>): readonly string[] =>
    runPhase([entry], createRun(), managedRequest({ query }), testResponse({ status, headers })).map(
      ({ rule, action, found: [first] }) => `${rule.id} ${action} ${first?.places[0]?.part}`,
    );
  assert.deepEqual(found("q=a", 200, {}), []);
  assert.deepEqual(found("q=a", 200, { "X-Debug": ["1"] }), ["2 block RESPONSE_HEADERS"]);
  assert.deepEqual(found("", 200, { "X-Debug": ["1"] }), []);
  assert.deepEqual(found("", 503, {}), ["3 log RESPONSE_STATUS"]);
});

const around = () => ({
  kind: "zone" as const,
  customRulesets: new Map(),
  lists: { find: () => undefined } as never,
  regexes: createRegexTable(REGEX_POSITIONS_MAX),
});
const problemsOf = (parameters: object, phase = PHASE, within: Parameters<typeof ruleProblems>[2] = around()): readonly string[] =>
  ruleProblems({ action: "execute", expression: "true", action_parameters: { id: SECLANG_RULESET_ID, ...parameters } }, phase, within).map(
    ({ pointer, message }) => `${pointer}: ${message}`,
  );
const rule = (id: number, more = "deny"): string => `SecRule ARGS "@contains a" "id:${id},phase:2,${more}"`;

/** Texts that cannot be saved, and the answer. */
const REFUSED: readonly (readonly [seclang: unknown, says: RegExp])[] = [
  [undefined, /^\/action_parameters: needs seclang/],
  [1, /seclang: seclang must be a string/],
  ["", /seclang: seclang must not be empty/],
  ["#".repeat(32_769), /seclang: seclang is longer than 32768 bytes/],
  [`${rule(1)}\nSecRule ARGS "@rx (" "id:2,phase:2,deny"`, /seclang: seclang, line 2, column \d+: /],
  [`${rule(1)}\n${rule(1)}`, /line 2, column \d+: the id 1 is taken by the rule at seclang:1/],
  [`SecRule ARGS "@rx a" "id:1,phase:2,exec:/bin/sh"`, /line 1, column \d+: unknown action exec/],
  [`SecRule ARGS "@pmFromFile /etc/passwd" "id:1,phase:2,deny"`, /line 1, column \d+: /],
  ["Include /etc/passwd", /line 1, column \d+: Include is not allowed here/],
  [rule(1, "redirect:'https://example.com/'"), /line 1, column 1: redirect is not available here; use deny/],
  [`SecRule RESPONSE_STATUS "@eq 500" "id:1,phase:3,deny"`, /line 1, column 1: rules of phase 3 do not run here; use phase 1 or 2/],
  [`SecRule ARGS "@rx (?=(a+)+b)" "id:1,phase:2,deny"`, /line 1, column \d+: look-around is not available here/],
  [`SecRule ARGS "@rx (a)\\1" "id:1,phase:2,deny"`, /line 1, column \d+: references to groups are not available here/],
  [`SecRule ARGS "@rx %{ARGS.p}" "id:1,phase:2,deny"`, /line 1, column \d+: a pattern cannot have variables in it here/],
  [`SecRule ARGS:/(?=a)/ "@rx a" "id:1,phase:2,deny"`, /line 1, column 1: look-around is not available here/],
  ["SecRuleRemoveByTag (?=(.+)+!)", /line 1, column 20: look-around is not available here/],
  ["SecRuleRemoveByTag (", /line 1, column 20: /],
  ['SecRuleUpdateTargetById 942100 "ARGS:q"', /line 1, column 25: of a rule of the Core Rule Set, variables can only be left out/],
  [`SecRule ARGS "@rx (a{1000}){60}" "id:1,phase:2,deny"`, /at most 50000 are allowed/],
  [Array.from({ length: 201 }, (_, i) => rule(i + 1)).join("\n"), /line 201, column 1: more than 200 rules/],
];

for (const [i, [seclang, says]] of REFUSED.entries())
  test(`an invalid text is refused with its line and column: ${i}`, () => {
    useCore();
    const [problem = ""] = problemsOf(seclang === undefined ? {} : { seclang });
    assert.match(problem, says);
  });

test("a text is allowed only in the managed request phase, and the texts of one ruleset have a total limit", () => {
  assert.deepEqual(problemsOf({ seclang: rule(1), version: "latest" }), []);
  assert.match(
    problemsOf({ seclang: rule(1) }, "http_request_firewall_custom")[0] ?? "",
    /rules in SecLang run in http_request_firewall_managed and http_response_firewall_managed, not in http_request_firewall_custom/,
  );
  assert.match(problemsOf({ seclang: rule(1), overrides: {} })[0] ?? "", /unknown parameter "overrides"/);
  const within = around();
  const large = `${rule(1)}\n# ${"x".repeat(30_000)}`;
  assert.deepEqual(problemsOf({ seclang: large }, PHASE, within), []);
  assert.match(
    problemsOf({ seclang: large.replace("id:1,", "id:2,") }, PHASE, within)[0] ?? "",
    /at most 50000 are allowed, of which each byte of seclang is one/,
  );
});
