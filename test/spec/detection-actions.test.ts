import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { PHASES } from "#rules/phases.ts";
import { ACTIONS } from "#rules/actions/actions.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const PHASE = "http_response_firewall_managed";
const RULE = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID)?.rules[0]?.id ?? "";

let server: ApiServer;
let zone = "";
let account = "";
let deployed: { readonly id: string; readonly rules: readonly { readonly id: string }[] };

before(async () => {
  server = await startApi();
  account = `/accounts/${server.account_id}`;
  const { body } = await ask(server, "POST", "/zones", { body: { name: "actions.test", account: { id: server.account_id } } });
  zone = `/zones/${body.result.id}`;
  deployed = (await ask(server, "PUT", entryPoint(PHASE), { body: { rules: [execute({})] } })).body.result;
});
after(() => server.close());

const entryPoint = (phase: string): string => `${zone}/rulesets/phases/${phase}/entrypoint`;
const execute = (parameters: object) => ({
  action: "execute",
  expression: "true",
  action_parameters: { id: SENSITIVE_DATA_RULESET_ID, ...parameters },
});
const stored = async (): Promise<string> => JSON.stringify((await ask(server, "GET", `${zone}/rulesets/${deployed.id}`)).body.result);

/** Every way to say it. */
const LEVELS = [
  (action: unknown) => ({ action }),
  (action: unknown) => ({ rules: [{ id: RULE, action }] }),
  (action: unknown) => ({ categories: [{ category: "financial", action, enabled: true }] }),
];
/** Every way to send it. */
const WRITES = [
  (overrides: object) => ["PUT", entryPoint(PHASE), { rules: [execute({ overrides })] }],
  (overrides: object) => ["PUT", `${zone}/rulesets/${deployed.id}`, { rules: [execute({ overrides })] }],
  (overrides: object) => ["POST", `${zone}/rulesets/${deployed.id}/rules`, execute({ overrides })],
  (overrides: object) => ["PATCH", `${zone}/rulesets/${deployed.id}/rules/${deployed.rules[0]?.id}`, execute({ overrides })],
  (overrides: object) => ["POST", `${account}/rulesets`, { name: "x", kind: "root", phase: PHASE, rules: [execute({ overrides })] }],
  (overrides: object) => ["POST", `${zone}/sensitive_data/scan`, { text: "x", overrides }],
] satisfies ((overrides: object) => readonly [method: string, path: string, body: object])[];
const OTHERS: readonly unknown[] = [...Object.keys(ACTIONS), "allow", "bypass", "default", "LOG", "", null, 1].filter(
  (action) => action !== "log",
);

test("SPEC 6: no override of a ruleset, a rule or a tag makes sensitive data detection do more than log", async () => {
  const before = await stored();
  for (const action of OTHERS)
    for (const level of LEVELS)
      for (const write of WRITES) {
        const [method, path, body] = write(level(action)) as [string, string, object];
        const answer = await ask(server, method, path, { body });
        assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(body)}`);
        assert.match(answer.text, /rules of Sensitive Data Detection can only have the action log/);
        assert.match(answer.body.errors[0].source.pointer, /\/action$/);
      }
  assert.equal(await stored(), before);
  for (const level of LEVELS) {
    const answer = await ask(server, "PUT", entryPoint(PHASE), { body: { rules: [execute({ overrides: level("log") })] } });
    assert.equal(answer.status, 200, answer.text);
  }
});

test("SPEC 4.5: rules in the response phase execute or skip, and the ruleset runs in no other phase", async () => {
  for (const action of OTHERS.filter((one) => one !== "execute" && one !== "skip")) {
    const answer = await ask(server, "POST", `${zone}/rulesets/${deployed.id}/rules`, { body: { action, expression: "true" } });
    assert.deepEqual([answer.status, answer.body.errors[0].source?.pointer], [400, "/action"], String(action));
  }
  for (const { name, levels } of PHASES)
    if (name !== PHASE && (levels as readonly string[]).includes("zone")) {
      const answer = await ask(server, "PUT", entryPoint(name), { body: { rules: [execute({})] } });
      assert.equal(answer.status, 400, `${name}: ${answer.text}`);
    }
  for (const [method, more] of [
    ["PUT", ""],
    ["DELETE", ""],
    ["PATCH", `/rules/${RULE}`],
    ["DELETE", `/rules/${RULE}`],
  ] as const) {
    const answer = await ask(server, method, `${zone}/rulesets/${SENSITIVE_DATA_RULESET_ID}${more}`, {
      body: { rules: [], action: "block" },
    });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /is managed and cannot be changed/);
  }
});

test("an exception can name only rules of its managed ruleset, including custom patterns", async () => {
  const { body } = await ask(server, "POST", `${zone}/sensitive_data/patterns`, { body: { name: "Staff", pattern: "EMP-[0-9]{6}" } });
  const skipping = (ruleset: string, id: string) => ({
    body: { rules: [{ action: "skip", expression: "true", action_parameters: { rules: { [ruleset]: [id] } } }] },
  });
  for (const id of [RULE, body.result.id]) {
    const answer = await ask(server, "PUT", entryPoint(PHASE), skipping(SENSITIVE_DATA_RULESET_ID, id));
    assert.equal(answer.status, 200, answer.text);
  }
  for (const { id: ruleset, phase, name } of MANAGED_RULESETS.values())
    for (const id of ["0,+*", "f".repeat(32), ruleset === SENSITIVE_DATA_RULESET_ID ? "x" : RULE]) {
      const answer = await ask(server, "PUT", entryPoint(phase), skipping(ruleset, id));
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(
        [answer.body.errors[0].message, answer.body.errors[0].source.pointer],
        [`${name} has no rule "${id}"`, `/rules/0/action_parameters/rules/${ruleset}/0`],
      );
    }
});
