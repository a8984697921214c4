import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS, completeParameters, phasesOf } from "#rules/actions/actions.ts";
import { type ActionName, PHASES } from "./phases.ts";
import { ruleProblems } from "./check.ts";
import type { RuleContext } from "#rules/parameters/rule-context.ts";
import type { ListKind } from "#rules/expression/values/lists.ts";
import { SENSITIVE_DATA_RULESET_ID } from "./managed/rulesets.ts";

const ZONE: RuleContext = { kind: "zone", customRulesets: new Map(), lists: { find: () => undefined } };
const CUSTOM = "http_request_firewall_custom";
const ORIGIN = "http_request_origin";
const RESPONSE = "http_response_firewall_managed";
const SENSITIVE = { id: SENSITIVE_DATA_RULESET_ID };

const ACCEPTED: readonly (readonly [string, string, object | undefined])[] = [
  [RESPONSE, "execute", SENSITIVE],
  [
    RESPONSE,
    "execute",
    {
      ...SENSITIVE,
      version: "latest",
      overrides: { action: "log", enabled: true, rules: [], categories: [{ category: "pii", enabled: false }] },
    },
  ],
  [RESPONSE, "skip", { ruleset: "current" }],
  [ORIGIN, "route", { origin: { port: 8080 } }],
  [ORIGIN, "route", { origin: { host: "origin.example.com", port: 1 }, host_header: "example.com" }],
  [ORIGIN, "route", { sni: { value: "origin.example.com" } }],
  [CUSTOM, "log", undefined],
  [CUSTOM, "log", {}],
  [CUSTOM, "block", undefined],
  [CUSTOM, "block", { response: { status_code: 451, content: "no", content_type: "text/plain" } }],
  [CUSTOM, "skip", { phase: "current" }],
];

test("valid rules are accepted", () => {
  for (const [phase, action, action_parameters] of ACCEPTED)
    assert.deepEqual(ruleProblems({ action, action_parameters, expression: "true" }, phase, ZONE), [], `${phase} ${action}`);
});

test("a redirect by list needs a redirect list", () => {
  const problems = (kind: ListKind): readonly string[] => {
    const around: RuleContext = { kind: "root", customRulesets: new Map(), lists: { find: () => ({ kind, has: () => false }) } };
    const from_list = { name: "moves", key: "http.request.full_uri" };
    const rule = { action: "redirect", expression: "true", action_parameters: { from_list } };
    return ruleProblems(rule, "http_request_redirect", around).map(({ message }) => message);
  };
  assert.deepEqual(problems("redirect"), []);
  assert.deepEqual(problems("ip"), ['the list "moves" is of kind ip, but this action needs a list of kind redirect']);
});

const LIMIT = { characteristics: ["ip.src"], period: 10, requests_per_period: 5 };

const REFUSED: readonly (readonly [string, object, string, RegExp])[] = [
  ["no_such_phase", { action: "log" }, "", /unknown phase/],
  [CUSTOM, {}, "/action", /must be a string/],
  [CUSTOM, { action: "toString" }, "/action", /unknown action/],
  [CUSTOM, { action: "route" }, "/action", /is not allowed here/],
  ["http_request_redirect", { action: "redirect" }, "/action_parameters", /needs from_value or from_list/],
  [
    "http_request_redirect",
    { action: "redirect", action_parameters: { from_list: { name: "moves", key: "http.request.full_uri" } } },
    "/action_parameters/from_list/name",
    /the list "moves" does not exist/,
  ],
  ["http_ratelimit", { action: "block" }, "/ratelimit", /must have ratelimit/],
  [CUSTOM, { action: "block", ratelimit: {} }, "/ratelimit", /only rules of phase http_ratelimit can have ratelimit/],
  ["http_ratelimit", { action: "block", ratelimit: { period: 10 } }, "/ratelimit", /needs characteristics/],
  ["http_ratelimit", { action: "block", ratelimit: { ...LIMIT, period: 11 } }, "/ratelimit/period", /one of 10, 60/],
  ["http_ratelimit", { action: "block", ratelimit: { ...LIMIT, score_per_period: 1 } }, "/ratelimit", /only one of/],
  [
    "http_ratelimit",
    { action: "block", ratelimit: { ...LIMIT, characteristics: ["no.such"] } },
    "/ratelimit/characteristics/0",
    /no\.such/,
  ],
  [
    "http_ratelimit",
    { action: "block", ratelimit: { ...LIMIT, counting_expression: "nope" } },
    "/ratelimit/counting_expression",
    /parsing/,
  ],
  ["http_ratelimit", { action: "block", ratelimit: { ...LIMIT, mitigation_timeout: 5 } }, "/ratelimit/mitigation_timeout", /one of/],
  ["http_ratelimit", { action: "block", ratelimit: { ...LIMIT, requests: 5 } }, "/ratelimit/requests", /unknown parameter/],
  ["ddos_l4", { action: "execute" }, "/action", /cannot have rules/],
  [CUSTOM, { action: "log", action_parameters: [] }, "/action_parameters", /object/],
  [CUSTOM, { action: "log", action_parameters: { x: 1 } }, "/action_parameters/x", /unknown parameter/],
  [CUSTOM, { action: "log", action_parameters: { "a/b~": 1 } }, "/action_parameters/a~1b~0", /unknown parameter/],
  [
    CUSTOM,
    { action: "block", action_parameters: { response: { status_code: 200 } } },
    "/action_parameters/response/status_code",
    /400 to 499/,
  ],
  [
    CUSTOM,
    { action: "block", action_parameters: { response: { content: "x".repeat(30_721) } } },
    "/action_parameters/response/content",
    /longer/,
  ],
  [
    CUSTOM,
    { action: "block", action_parameters: { response: { content_type: "image/png" } } },
    "/action_parameters/response/content_type",
    /one of/,
  ],
  [CUSTOM, { action: "skip" }, "/action_parameters", /needs/],
  [CUSTOM, { action: "skip", action_parameters: { phases: ["ddos_l4"] } }, "/action_parameters/phases/0", /one of/],
  [CUSTOM, { action: "skip", action_parameters: { ruleset: "other" } }, "/action_parameters/ruleset", /current/],
  [CUSTOM, { action: "execute", action_parameters: SENSITIVE }, "/action_parameters/id", /runs in phase http_response_firewall_managed/],
  [RESPONSE, { action: "block" }, "/action", /is not allowed here/],
  [RESPONSE, { action: "execute" }, "/action_parameters/id", /requires the id/],
  [RESPONSE, { action: "execute", action_parameters: { id: "0".repeat(32) } }, "/action_parameters/id", /no ruleset that can/],
  [RESPONSE, { action: "execute", action_parameters: { ...SENSITIVE, version: "7" } }, "/action_parameters/version", /latest/],
  [RESPONSE, { action: "execute", action_parameters: { ...SENSITIVE, overrides: [] } }, "/action_parameters/overrides", /object/],
  [
    RESPONSE,
    { action: "execute", action_parameters: { ...SENSITIVE, overrides: { action: "block" } } },
    "/action_parameters/overrides/action",
    /only have the action log/,
  ],
  [
    RESPONSE,
    { action: "execute", action_parameters: { ...SENSITIVE, overrides: { sensitivity_level: "low" } } },
    "/action_parameters/overrides/sensitivity_level",
    /unknown/,
  ],
  [
    RESPONSE,
    { action: "execute", action_parameters: { ...SENSITIVE, overrides: { rules: {} } } },
    "/action_parameters/overrides/rules",
    /array/,
  ],
  [
    "http_request_firewall_managed",
    { action: "execute", action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee", matched_data: { masked_sample: true } } },
    "/action_parameters/matched_data/masked_sample",
    /unknown/,
  ],
  [
    "http_request_firewall_managed",
    { action: "execute", action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee", overrides: { sensitivity_level: "high" } } },
    "/action_parameters/overrides/sensitivity_level",
    /default/,
  ],
  [
    RESPONSE,
    { action: "execute", action_parameters: { ...SENSITIVE, overrides: { rules: [{ id: "x", enabled: true }] } } },
    "/action_parameters/overrides/rules/0/id",
    /has no rule/,
  ],
  [
    RESPONSE,
    { action: "execute", action_parameters: { ...SENSITIVE, overrides: { categories: [{ category: "pii", enabled: 1 }] } } },
    "/action_parameters/overrides/categories/0/enabled",
    /true or false/,
  ],
  [ORIGIN, { action: "route", action_parameters: { sni: { value: "a b" } } }, "/action_parameters/sni/value", /host name/],
  [ORIGIN, { action: "route", action_parameters: { sni: {} } }, "/action_parameters/sni", /needs value/],
  [ORIGIN, { action: "route" }, "/action_parameters", /needs host_header, origin or sni/],
  [ORIGIN, { action: "route", action_parameters: { origin: {} } }, "/action_parameters/origin", /needs host or port/],
  [ORIGIN, { action: "route", action_parameters: { origin: { port: "80" } } }, "/action_parameters/origin/port", /1 to 65535/],
  [ORIGIN, { action: "route", action_parameters: { origin: { host: "bad host" } } }, "/action_parameters/origin/host", /host name/],
  [CUSTOM, { action: "log", expression: 5 }, "/expression", /string/],
  [CUSTOM, { action: "log", expression: "nope" }, "/expression", /Filter parsing error \(1:1\)/],
];

test("invalid rules are refused with a pointer", () => {
  for (const [phase, draft, pointer, message] of REFUSED) {
    const problems = ruleProblems({ expression: "true", ...draft }, phase, ZONE);
    assert.ok(
      problems.some((problem) => problem.pointer === pointer && message.test(problem.message)),
      `${phase} ${JSON.stringify(draft)}: ${JSON.stringify(problems)}`,
    );
  }
});

test("phase names are unique, and every action can be used in some phase", () => {
  assert.equal(new Set(PHASES.map((phase) => phase.name)).size, PHASES.length);
  // Scores are for the rules of managed rulesets.
  for (const name of Object.keys(ACTIONS).filter((action) => action !== "score")) assert.ok(phasesOf(name as ActionName).length > 0, name);
});

test("the version of an execute rule is filled in", () => {
  assert.deepEqual(completeParameters("execute", SENSITIVE), { ...SENSITIVE, version: "latest" });
  assert.deepEqual(completeParameters("log", {}), {});
});

test("rate limits by every characteristic, and counting by the response, can be saved", () => {
  const characteristics = [
    "cf.colo.id",
    "ip.src",
    "http.host",
    'http.request.headers["x-api-key"]',
    'http.request.cookies["session"]',
    'http.request.uri.args["user"]',
    "http.request.uri.path",
  ];
  const ratelimit = { ...LIMIT, characteristics, counting_expression: "http.response.code eq 401", mitigation_timeout: 60 };
  assert.deepEqual(ruleProblems({ action: "block", expression: "true", ratelimit }, "http_ratelimit", ZONE), []);
});
