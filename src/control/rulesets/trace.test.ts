import assert from "node:assert/strict";
import { systemActor } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("a trace shows the path of a request through every phase, account before zone, with reasons", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { rulesets, ruleTraces, ruleLists, ruleListItems } = control;
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: systemActor("test") } as const;
  const account = { level: "account", account_id, zone_id: null, plan: null, actor: systemActor("test") } as const;
  const list = await ruleLists.create(call(), account_id, { name: "office", kind: "ip" });
  await ruleListItems.add(call(), account_id, list.id, [{ ip: "198.51.100.0/24" }]);
  await ruleListItems.idle();

  const lower = { uri: { path: { expression: "lower(http.request.uri.path)" } } };
  await rulesets.putEntryPoint(call(), zone, "http_request_transform", {
    rules: [{ action: "rewrite", action_parameters: lower, expression: "true" }],
  });
  const custom = await rulesets.create(call(), account, {
    name: "shared",
    kind: "custom",
    phase: "http_request_firewall_custom",
    rules: [{ action: "log", expression: 'http.request.uri.path eq "/admin"', description: "secret of the account" }],
  });
  const root = await rulesets.putEntryPoint(call(), account, "http_request_firewall_custom", {
    rules: [
      { action: "skip", action_parameters: { ruleset: "current" }, expression: "ip.src in $office" },
      { action: "execute", action_parameters: { id: custom.id }, expression: "true" },
    ],
  });
  const firewall = await rulesets.putEntryPoint(call(), zone, "http_request_firewall_custom", {
    rules: [{ action: "block", expression: 'http.request.uri.path eq "/admin"', description: "no admin" }],
  });
  await rulesets.putEntryPoint(call(), zone, "http_custom_errors", {
    rules: [{ action: "serve_error", action_parameters: { content: "no" }, expression: "http.response.code eq 403" }],
  });

  const trace = await ruleTraces.trace(account, { url: "https://www.example.test/ADMIN?x=1", headers: { "X-A": "1" } });
  assert.equal(trace.zone_name, "example.test");
  assert.deepEqual(
    trace.phases.map(({ phase, steps }) => [phase, ...steps.map(({ action, result }) => `${action} ${result}`)]),
    [
      ["http_request_transform", "rewrite applied"],
      ["http_request_firewall_custom", "skip not_matched", "execute applied", "log applied", "block applied"],
      ["http_custom_errors", "serve_error applied"],
    ],
  );
  assert.deepEqual(trace.phases[0]?.steps[0]?.does, { uri: { path: { value: "/admin" } } });
  const [, , logged, blocked] = trace.phases[1]?.steps ?? [];
  assert.deepEqual([logged?.deployed_by, logged?.description], [root.rules[1]?.id, "secret of the account"]);
  assert.deepEqual(
    [blocked?.ruleset_id, blocked?.ruleset_version, blocked?.expression],
    [firewall.id, "1", 'http.request.uri.path eq "/admin"'],
  );
  assert.deepEqual(trace.terminated_by, {
    phase: "http_request_firewall_custom",
    ruleset_id: firewall.id,
    rule_id: firewall.rules[0]?.id,
    action: "block",
  });
  assert.deepEqual(trace.request, { method: "GET", url: "https://www.example.test/admin?x=1", headers: { "x-a": ["1"] } });

  // A user with access to the zone only learns the effect of the account's rules, but not their text.
  const fromZone = await ruleTraces.trace(zone, { url: "http://example.test/ADMIN", ip: "198.51.100.7" });
  assert.deepEqual(
    fromZone.phases[1]?.steps.map(({ action, result, expression }) => [action, result, expression]),
    [
      ["skip", "applied", ""],
      ["block", "applied", 'http.request.uri.path eq "/admin"'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(fromZone), /office|secret/);

  for (const [input, source] of [
    [{ url: "https://other.test/" }, "/url"],
    [{ url: "nonsense" }, "/url"],
    [{ url: "ftp://example.test/" }, "/url"],
    [{ url: "https://example.test/", ip: "nowhere" }, "/ip"],
    [{ url: "https://example.test/", headers: { x: Array.from({ length: 257 }, () => "a") } }, "/headers"],
  ] as const)
    await assert.rejects(ruleTraces.trace(zone, input), (error) => error instanceof PlatformError && error.source === source);
});

storeTest("trace and ruleset show a stored rule that no longer compiles", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { rulesets, ruleTraces } = control;
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: call().actor } as const;
  const { id: rulesetId, rules } = await rulesets.putEntryPoint(call(), zone, "http_request_firewall_custom", {
    rules: [
      { action: "block", expression: 'http.request.uri.path eq "/old"' },
      { action: "block", expression: 'http.request.uri.path eq "/admin"' },
    ],
  });
  assert.deepEqual(await ruleTraces.notes(zone, rulesetId), []);
  const { rules: stored } = await store.read.selectFrom("rulesets").select("rules").where("id", "=", rulesetId).executeTakeFirstOrThrow();
  const broken = stored.replace("http.request.uri.path eq", "http.request.uri.gone eq");
  await store.write(async ({ db }) => {
    await db.updateTable("rulesets").set({ rules: broken, version: 2 }).where("id", "=", rulesetId).execute();
  });
  const message = /unknown field "http\.request\.uri\.gone"/;
  const notes = await ruleTraces.notes(zone, rulesetId);
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", new RegExp(`^Rule ${rules[0]?.id} does not run: `));
  assert.match(notes[0] ?? "", message);
  const trace = await ruleTraces.trace(zone, { url: "https://www.example.test/admin" });
  assert.equal(trace.terminated_by?.rule_id, rules[1]?.id);
  assert.deepEqual(
    trace.left_out.map(({ ruleset_id, rule_id }) => [ruleset_id, rule_id]),
    [[rulesetId, rules[0]?.id]],
  );
});

storeTest("a trace shows the matched data of a managed rule and its position", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: call().actor } as const;
  await control.rulesets.putEntryPoint(call(), zone, "http_request_firewall_managed", {
    rules: [{ action: "execute", action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee" }, expression: "true" }],
  });
  const found = async (input: Parameters<typeof control.ruleTraces.trace>[1]) => {
    const { phases } = await control.ruleTraces.trace(zone, input);
    const step = phases[0]?.steps.find(({ matched }) => matched !== undefined);
    return [step?.description, step?.matched];
  };
  assert.deepEqual(await found({ url: "https://www.example.test/?a=1&q=1%20UNION%2F**%2FSELECT%20null" }), [
    "SQL injection: UNION SELECT",
    { part: "http.request.uri.args", name: "q", value: "1 union select null" },
  ]);
  assert.deepEqual(
    await found({
      url: "https://www.example.test/",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"a":["<script>alert(1)</script>"]}',
    }),
    ["Cross-site scripting: a script element", { part: "http.request.body.raw", name: "a", value: "<script>alert(1)</script>" }],
  );
});

storeTest("a trace uses the zone that serves the host as a custom hostname, with its metadata", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const zoneOf = async (name: string) => {
    const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
    return { id, name, account_id, plan: "free" };
  };
  const [saas, customer] = [await zoneOf("service.test"), await zoneOf("customer.test")];
  await control.dnsRecords.create(call(), saas, { type: "A", name: "origin", content: "192.0.2.1", proxied: true });
  await control.fallbackOrigins.put(call(), saas, { origin: "origin.service.test" });
  await control.dnsRecords.create(call(), customer, { type: "CNAME", name: "shop", content: "origin.service.test" });
  const body = { hostname: "shop.customer.test", custom_metadata: { tier: "gold" } };
  assert.equal((await control.customHostnames.create(call(), saas, body)).status, "active");
  const scope = (zone: typeof saas | null) =>
    ({ level: zone ? "zone" : "account", account_id, zone_id: zone?.id ?? null, plan: null, actor: systemActor("test") }) as const;
  const expression = 'lookup_json_string(cf.hostname.metadata, "tier") eq "gold"';
  await control.rulesets.putEntryPoint(call(), scope(saas) as never, "http_request_firewall_custom", {
    rules: [{ action: "block", expression }],
  });
  for (const asked of [null, saas]) {
    const trace = await control.ruleTraces.trace(scope(asked) as never, { url: "https://shop.customer.test/" });
    assert.deepEqual([trace.zone_name, trace.terminated_by?.action], ["service.test", "block"]);
  }
  const elsewhere = (zone: typeof saas | null, host: string) => control.ruleTraces.trace(scope(zone) as never, { url: `https://${host}/` });
  await assert.rejects(elsewhere(customer, "shop.customer.test"), { code: 10400 });
  assert.equal((await elsewhere(customer, "www.customer.test")).zone_name, "customer.test");
  assert.equal((await elsewhere(null, "unknown.example")).zone_name, null);

  // A zone's own names go before wildcards of others.
  await store.write(({ db }) => db.updateTable("custom_hostnames").set({ wildcard: 1, hostname: "wild.test" }).execute());
  assert.equal((await elsewhere(null, "any.wild.test")).zone_name, "service.test");
  await zoneOf("any.wild.test");
  assert.equal((await elsewhere(null, "any.wild.test")).zone_name, "any.wild.test");
});

storeTest("a trace ends where the edge stops a request whose rules exceed the step limit", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: call().actor } as const;
  const costly = Array.from({ length: 12 }, (_, n) => `upper(substring(http.request.body.raw, ${n})) ne "${n}"`).join(" and ");
  const rule = { action: "block", expression: `${costly} and len(http.host) lt 1` };
  const { rules } = await control.rulesets.putEntryPoint(call(), zone, "http_request_firewall_custom", {
    rules: Array.from({ length: 20 }, () => rule),
  });
  const headers = { "content-type": "text/plain" };
  const trace = await control.ruleTraces.trace(zone, {
    url: "https://www.example.test/",
    method: "POST",
    headers,
    body: "a".repeat(131_072),
  });
  const results = trace.phases[0]?.steps.map(({ result }) => result) ?? [];
  assert.ok(results.length > 1 && results.length < rules.length);
  assert.deepEqual([results[0], results.at(-1)], ["not_matched", "exhausted"]);
  assert.deepEqual([trace.terminated_by?.action, trace.terminated_by?.rule_id], ["exhausted", rules[results.length - 1]?.id]);
});

storeTest("a trace and its rules see the path in the form that the zone chose", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: systemActor("test") } as const;
  const rules = [
    { action: "log", expression: 'raw.http.request.uri.path eq "//x/../adm%69n"' },
    { action: "block", expression: 'http.request.uri.path eq "/admin"' },
  ];
  await control.rulesets.putEntryPoint(call(), zone, "http_request_firewall_custom", { rules });
  const traced = async () => {
    const trace = await control.ruleTraces.trace(zone, { url: "https://www.example.test//x/../adm%69n" });
    return [trace.request.url, ...(trace.phases[0]?.steps ?? []).map(({ result }) => result)];
  };
  assert.deepEqual(await traced(), ["https://www.example.test//x/../adm%69n", "applied", "applied"]);
  const choose = (value: object) => control.zoneSettings.edit(call(), id, [{ id: "url_normalization", value, pointer: "" }]);
  await choose({ scope: "none", type: "cloudflare" });
  assert.deepEqual(await traced(), ["https://www.example.test//x/../adm%69n", "applied", "not_matched"]);
  await choose({ scope: "both", type: "cloudflare" });
  assert.deepEqual(await traced(), ["https://www.example.test/admin", "applied", "applied"]);
});
