import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

/** As long as the part of a body that rules see. */
const BODY = "a".repeat(131_072);
/** The limit of a ruleset. */
const RULES_MAX = 1000;
/** Takes a sixth of a request's steps, of which no two rules share any. */
const COSTLY = `${Array.from({ length: 12 }, (_, n) => `upper(substring(http.request.body.raw, ${n})) ne "${n}"`).join(" and ")} and len(http.host) lt 1`;

let origin: TestOrigin;
let edge: TestEdge;
before(async () => {
  origin = await httpOrigin((_req, res) => res.end("origin"));
  edge = await startEdge([
    ...siteOps(origin.port),
    zoneOp("other", "example.org"),
    recordOp("other-www", "other", "www.example.org", "A", "127.0.0.1"),
    rulesetOp("other-route", "zone", "other", "http_request_origin", [
      { action: "route", expression: "true", action_parameters: { origin: { port: origin.port } } },
    ]),
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const worst = (action: string, parameters: Readonly<Record<string, unknown>> = {}) =>
  Array.from({ length: RULES_MAX }, () => ({ action, action_parameters: parameters, description: "worst", expression: COSTLY }));

const posted = (path: string): Promise<string> =>
  exchangeRaw(
    edge.http,
    `POST ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  );
const other = (): Promise<string> => exchangeRaw(edge.http, "GET / HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n");
const counted = (): number => edge.metrics.samples().find(({ name }) => name === "selvedge_edge_rules_exhausted_total")?.value ?? -1;

async function eventOf(path: string) {
  await eventually(() => edge.security.some((event) => event.path === path));
  const events = edge.security.filter((event) => event.path === path);
  assert.equal(events.length, 1);
  return events[0]!;
}

test("the edge ends a request whose rules take too many steps, logs an event that names the rule, and answers others", async () => {
  edge.replica.apply([rulesetOp("z", "zone", "zone", "http_request_firewall_custom", worst("block"))]);
  await edge.replica.settled();
  const [ended, answered] = await Promise.all([posted("/ended"), other()]);
  assert.match(ended, /^HTTP\/1\.1 503 [\s\S]*1102/);
  assert.match(answered, /^HTTP\/1\.1 200 /);
  assert.match(await other(), /^HTTP\/1\.1 200 /);
  const { ruleset_id, rule_id, rule_description, phase, action } = await eventOf("/ended");
  assert.deepEqual({ ruleset_id, phase, action }, { ruleset_id: "z", phase: "http_request_firewall_custom", action: "block" });
  assert.match(rule_id, /^z-\d+$/);
  assert.match(rule_description, /it was rejected \(worst\)$/);
  assert.equal(edge.requests.find(({ path }) => path === "/ended")?.edge_error, "1102");
  assert.equal(counted(), 1);
  edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
  assert.match(await posted("/again"), /^HTTP\/1\.1 200 /);
});

const LIMIT = {
  characteristics: ["ip.src"],
  period: 10,
  requests_per_period: 1000,
  counting_expression: `http.response.code eq 200 and (${COSTLY})`,
};

for (const [phase, rules] of Object.entries({
  http_response_headers_transform: worst("rewrite", { headers: { "X-Rule": { operation: "set", value: "1" } } }),
  http_response_firewall_managed: worst("execute", { id: "e22d83c647c64a3eae91b71b499d988e" }),
  http_log_custom_fields: worst("log_custom_field", { request_fields: [{ name: "host" }] }),
  http_ratelimit: Array.from({ length: 100 }, () => ({ action: "block", expression: "true", ratelimit: LIMIT, description: "worst" })),
}))
  test(`if rules of ${phase} take too many steps, the edge sends the response unchanged`, async () => {
    edge.replica.apply([rulesetOp("z", "zone", "zone", phase, rules)]);
    await edge.replica.settled();
    assert.deepEqual(edge.warnings, []);
    const known = counted();
    const path = `/${phase}`;
    const answer = await posted(path);
    assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*origin/);
    assert.doesNotMatch(answer, /x-rule/i);
    const event = await eventOf(path);
    assert.deepEqual([event.action, event.phase, event.ruleset_id], ["log", phase, "z"]);
    assert.match(event.rule_description, /its response was sent unchanged \(worst\)$/);
    assert.equal(counted(), known + 1);
    edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
  });
