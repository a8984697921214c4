import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { programOf } from "#rules/seclang/testing/requests.ts";
import { FORM, posted } from "#rules/testing/budget.cases.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";
import { SCORE_EXCEEDED_RULE_ID, SCORES_RULESET_ID } from "../request-rulesets.ts";
import { RESPONSE_SCORES_RULESET_ID } from "../response-rulesets.ts";
import { MANAGED_RULESETS, useOperatorRules } from "../rulesets.ts";
import { createCoreRuleSet } from "./core-rule-set.ts";

const PROGRAM = programOf(`
SecComponentSignature "OWASP_CRS/9.9.9"
SecDefaultAction "phase:2,log,deny"
SecAction "id:901000,phase:1,nolog,pass,setvar:tx.critical_anomaly_score=5,setvar:tx.notice_anomaly_score=2"
SecRule ARGS|REQUEST_COOKIES|REQUEST_BODY|XML:/* "@rx attack" "id:942100,phase:2,block,t:lowercase,msg:'An attack',severity:CRITICAL,tag:'attack-sqli',tag:'paranoia-level/1',tag:'OWASP_CRS',setvar:'tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}'"
SecRule TX:DETECTION_PARANOIA_LEVEL "@lt 2" "id:942013,phase:2,pass,nolog,skipAfter:END"
SecRule REQUEST_HEADERS:User-Agent "@rx odd" "id:920300,phase:2,block,msg:'Odd',severity:NOTICE,tag:'attack-protocol',setvar:'tx.anomaly_score_pl2=+%{tx.notice_anomaly_score}'"
SecMarker END
SecRule TX:inbound_anomaly_score_pl1 "@ge 5" "id:949110,phase:2,deny"
SecRule REQUEST_FILENAME "@beginsWith /manual/" "id:9000,phase:1,pass,nolog,ctl:ruleRemoveById=951110"
SecRule RESPONSE_BODY "@pm mysql_ ORA-" "id:951100,phase:4,pass,nolog,setvar:tx.sql_error_match=1"
SecRule TX:sql_error_match "@eq 1" "id:951110,phase:4,block,msg:'A database speaks',severity:CRITICAL,tag:'attack-disclosure',chain"
  SecRule RESPONSE_BODY "@rx ORA-[0-9]{4}" "setvar:'tx.outbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}',setvar:'tx.anomaly_score_pl1=+%{tx.critical_anomaly_score}'"
SecRule RESPONSE_STATUS "@rx ^5" "id:950100,phase:4,block,msg:'Broken',severity:ERROR,tag:'attack-disclosure',setvar:'tx.outbound_anomaly_score_pl2=+4'"
`);

afterEach(() => useOperatorRules({ core: null, rows: [] }));

const use = (): void => useOperatorRules({ core: createCoreRuleSet(PROGRAM, "ab".repeat(32)), rows: [] });
const idOf = (number: number): string => MANAGED_RULESETS.get(SCORES_RULESET_ID)!.rules.find(({ core }) => core === number)!.id;

function matchesOf(overrides: object, request: RequestView): ReturnType<typeof runPhase> {
  const rule = {
    id: "deployed",
    action: "execute",
    action_parameters: { id: SCORES_RULESET_ID, overrides },
    expression: "true",
    description: "",
    enabled: true,
  };
  const entry = compileRuleset({ id: "entry", phase: "http_request_firewall_managed", rules: [rule] });
  assert.deepEqual(entry.problems, []);
  return runPhase([entry], { skips: null, later: [], trace: null, steps: 0, exhausted: null }, request, null).filter(
    ({ action }) => action === "block",
  );
}

const threshold = (score: number): object => ({ rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: score }] });
const attack = testRequest({ query: "a=Attack&b=an+attack&c=1", headers: { "user-agent": ["odd"] } });

test("every scoring rule is a rule of the ruleset, with its level and tags", () => {
  use();
  const { rules, version } = MANAGED_RULESETS.get(SCORES_RULESET_ID)!;
  assert.equal(version, "OWASP_CRS/9.9.9");
  assert.deepEqual(
    rules
      .filter(({ cause }) => cause === undefined)
      .map(({ description, action, action_parameters, categories, core }) => [description, action, action_parameters, categories, core]),
    [
      ["942100: An attack", "score", { increment: 5 }, ["attack-sqli", "paranoia-level-1"], 942100],
      ["920300: Odd", "score", { increment: 2 }, ["attack-protocol", "paranoia-level-2"], 920300],
      ["949110: Inbound Anomaly Score Exceeded", "block", undefined, [], undefined],
    ],
  );
});

test("each value that a rule hits counts, and only up to the threshold", () => {
  use();
  assert.equal(matchesOf(threshold(12), attack)[0]?.rule.id, SCORE_EXCEEDED_RULE_ID);
  assert.equal(matchesOf(threshold(12), attack)[0]?.found.length, 2);
  assert.deepEqual(matchesOf(threshold(13), attack), []);
  assert.deepEqual(matchesOf(threshold(1), testRequest({ query: "a=1" })), []);
});

test("disabled levels and rules add nothing", () => {
  use();
  const off = (changes: object): object => ({ ...threshold(1), ...changes });
  const level = { categories: [{ category: "paranoia-level-2", enabled: false }] };
  assert.deepEqual(
    matchesOf(off(level), attack)[0]?.found.map(({ rule_id }) => rule_id),
    [idOf(942100)],
  );
  assert.deepEqual(matchesOf({ ...threshold(11), ...level }, attack), []);
  const rules = [
    { id: idOf(942100), enabled: false },
    { id: SCORE_EXCEEDED_RULE_ID, score_threshold: 2 },
  ];
  assert.deepEqual(
    matchesOf({ rules }, attack)[0]?.found.map(({ rule_id }) => rule_id),
    [idOf(920300)],
  );
});

test("cookies, forms, JSON, parts and XML are inspected in each reading that a program has", () => {
  use();
  const sending = (type: string, raw: string): RequestView =>
    testRequest({ method: "POST", query: "", headers: { "content-type": [type] }, body: { raw, size: raw.length, truncated: false } });
  const requests = [
    testRequest({ query: "", headers: { cookie: ["a=b; c=attack"] } }),
    sending("application/x-www-form-urlencoded", "a=%61ttack"),
    sending("application/json", '{"a":[{"b":"att\\u0061ck"}]}'),
    sending("multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="q"\r\n\r\nattack\r\n--x--\r\n'),
    sending("application/xml", "<a>att<![CDATA[ack]]></a>"),
  ];
  for (const request of requests) assert.equal(matchesOf(threshold(5), request).length, 1, request.headers("content-type")[0] ?? "cookie");
});

/** The rule of each event, for a response with this body. */
function toldOf(body: string, path = "/", status = 200, overrides: object = {}): readonly (readonly [string, number, readonly string[]])[] {
  const rule = { id: "deployed", action: "execute", expression: "true", description: "", enabled: true };
  const rules = [{ ...rule, action_parameters: { id: RESPONSE_SCORES_RULESET_ID, overrides } }];
  const entry = compileRuleset({ id: "entry", phase: "http_response_firewall_managed", rules });
  assert.deepEqual(entry.problems, []);
  assert.equal(entry.judges, true);
  const run = { skips: null, later: [], trace: null, steps: 0, exhausted: null };
  // An attack in the request is not a matter of the response.
  const request = testRequest({ path, query: "a=attack", headers: {} });
  return runPhase([entry], run, request, testResponse({ status, body }))
    .filter(({ action }) => action === "block")
    .flatMap(({ found }) => found.map(({ rule_id, score, places }) => [rule_id, score, places.map(({ part }) => part)] as const));
}

test("response rules are a separate ruleset with a separate score", () => {
  use();
  const { rules, version, phase } = MANAGED_RULESETS.get(RESPONSE_SCORES_RULESET_ID)!;
  assert.equal(version, "OWASP_CRS/9.9.9");
  assert.equal(phase, "http_response_firewall_managed");
  assert.deepEqual(
    rules.map(({ description, core, enabled, score_threshold }) => [description, core, enabled, score_threshold]),
    [
      ["951110: A database speaks", 951110, true, undefined],
      ["950100: Broken", 950100, false, undefined],
      ["959100: Outbound Anomaly Score Exceeded", undefined, true, 4],
    ],
  );
  const [database, broken] = rules;
  assert.deepEqual(toldOf("ORA-1234: no such table"), [[database!.id, 5, ["TX"]]]);
  assert.deepEqual(toldOf("mysql_query"), []);
  assert.deepEqual(toldOf("fine", "/", 500), []);
  assert.deepEqual(
    toldOf("fine", "/", 500, { rules: [{ id: broken!.id, enabled: true }] }).map(([id]) => id),
    [broken!.id],
  );
  // Exceptions that rules for requests make hold for responses too.
  assert.deepEqual(toldOf("ORA-1234: no such table", "/manual/errors"), []);
});

test("without a Core Rule Set no ruleset inspects responses", () => {
  assert.deepEqual(toldOf("ORA-1234: no such table"), []);
  assert.match(MANAGED_RULESETS.get(RESPONSE_SCORES_RULESET_ID)!.description, /selvedge waf crs install/);
});

test("without a Core Rule Set the ruleset has the built-in rules, and its description says so", () => {
  const { version, description, rules } = MANAGED_RULESETS.get(SCORES_RULESET_ID)!;
  assert.match(version, /^own-\d/);
  assert.match(description, /selvedge waf crs install/);
  assert.ok(rules.every(({ core }) => core === undefined));
});

test("an attack beyond the inspected length makes the rule for long bodies match", () => {
  use();
  const { id } = MANAGED_RULESETS.get(SCORES_RULESET_ID)!.rules.find(({ cause }) => cause === "size")!;
  const blocks = { rules: [{ id, action: "block" }] };
  const long = (body: string, type: string): readonly string[] => matchesOf(blocks, posted(body, type)).map(({ rule }) => rule.id);
  assert.deepEqual(long(`a=${"x".repeat(200_000)}&b=attack`, FORM), []);
  for (const [body, type] of [
    [`a=${"x".repeat(300_000)}&b=attack`, FORM],
    [`${"a=1&".repeat(20_000)}b=attack`, FORM],
    [JSON.stringify([...Array.from({ length: 20_000 }, () => "1"), "attack"]), "application/json"],
    [`<r>${"<a>some text of it</a>".repeat(20_000)}attack</r>`, "application/xml"],
  ] as const)
    assert.deepEqual(long(body, type), [id], body.slice(0, 20));
});
