import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { all, failing } from "../support/vendor-client.ts";

// The vendor's own TypeScript client, with nothing changed but the base address, over real HTTP.
let server: ApiServer;
let client: Cloudflare;
let account_id: string;

before(async () => {
  server = await startApi();
  account_id = server.account_id;
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

const newZone = async (name: string): Promise<string> => (await client.zones.create({ account: { id: account_id }, name })).id;

/** The client types rulesets as unknown. */
const ruleset = async (shown: Promise<unknown>): Promise<Ruleset> => (await shown) as Ruleset;

test("zones: create, get, list with filters, edit, activation check, delete", async () => {
  const zone = await client.zones.create({ account: { id: account_id }, name: "zones.test", type: "full" });
  assert.deepEqual([zone.name, zone.status, zone.account.id, zone.paused], ["zones.test", "active", account_id, false]);
  assert.deepEqual(await client.zones.get({ zone_id: zone.id }), zone);
  assert.deepEqual(
    (await all(client.zones.list({ name: "zones.test" }))).map(({ id }) => id),
    [zone.id],
  );
  assert.deepEqual(await all(client.zones.list({ name: "absent.test", status: "active", account: { id: account_id } })), []);
  assert.equal((await client.zones.edit({ zone_id: zone.id, paused: true })).paused, true);
  assert.equal((await client.zones.activationCheck.trigger({ zone_id: zone.id })).id, zone.id);
  await assert.rejects(client.zones.create({ account: { id: account_id }, name: "zones.test" }), failing(400, 1061));
  assert.equal((await client.zones.delete({ zone_id: zone.id }))?.id, zone.id);
  assert.deepEqual(await all(client.zones.list({ name: "zones.test" })), []);
  await assert.rejects(client.zones.get({ zone_id: zone.id }), Cloudflare.APIError);
});

test("zones: the client reads the list to its last page", async () => {
  for (let i = 0; i < 7; i++) await newZone(`page-${i}.test`);
  const names = (await all(client.zones.list({ name: "starts_with:page-", per_page: 5, direction: "desc" }))).map(({ name }) => name);
  assert.deepEqual(names, ["page-6.test", "page-5.test", "page-4.test", "page-3.test", "page-2.test", "page-1.test", "page-0.test"]);
});

test("dns.records: create, get, edit, update, list with filters and pages, delete", async () => {
  const zone_id = await newZone("records.test");
  const www = await client.dns.records.create({ zone_id, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  assert.deepEqual([www.name, www.proxied, www.proxiable, www.ttl], ["www.records.test", true, true, 1]);
  assert.deepEqual(await client.dns.records.get(www.id, { zone_id }), www);
  const edited = await client.dns.records.edit(www.id, { zone_id, type: "A", name: "www", ttl: 120, content: "192.0.2.7", proxied: false });
  assert.deepEqual([edited.content, edited.ttl, edited.proxied], ["192.0.2.7", 120, false]);
  const updated = await client.dns.records.update(www.id, { zone_id, type: "AAAA", name: "www", ttl: 300, content: "2001:DB8::1" });
  assert.deepEqual([updated.id, updated.type, updated.content], [www.id, "AAAA", "2001:db8::1"]);

  const srv = await client.dns.records.create({
    zone_id,
    type: "SRV",
    name: "_sip._tcp",
    ttl: 1,
    data: { priority: 10, weight: 5, port: 5060, target: "www.records.test" },
  });
  assert.deepEqual([srv.type, "priority" in srv && srv.priority, srv.proxiable], ["SRV", 10, false]);
  await client.dns.records.create({ zone_id, type: "MX", name: "@", ttl: 1, content: "www.records.test", priority: 10 });
  await client.dns.records.create({ zone_id, type: "TXT", name: "@", ttl: 1, content: "v=spf1 -all" });
  await client.dns.records.create({ zone_id, type: "CAA", name: "@", ttl: 1, data: { flags: 0, tag: "issue", value: "ca.example" } });
  await client.dns.records.create({ zone_id, type: "CNAME", name: "alias", ttl: 1, content: "www.records.test" });

  const names = async (query: object): Promise<string[]> =>
    (await all(client.dns.records.list({ zone_id, ...query }))).map(({ type, name }) => `${type} ${name.replace(".records.test", "")}`);
  assert.deepEqual(await names({ per_page: 2 }), [
    "SRV _sip._tcp",
    "CNAME alias",
    "CAA records.test",
    "MX records.test",
    "TXT records.test",
    "AAAA www",
  ]);
  assert.deepEqual(await names({ name: { startswith: "www" } }), ["AAAA www"]);
  assert.deepEqual(await names({ name: { contains: "sip" }, type: "SRV" }), ["SRV _sip._tcp"]);
  assert.deepEqual(await names({ content: { exact: "v=spf1 -all" } }), ["TXT records.test"]);
  assert.deepEqual(await names({ search: "ca.example", order: "type", direction: "desc", match: "all" }), ["CAA records.test"]);

  await assert.rejects(
    client.dns.records.create({ zone_id, type: "A", name: "bad", ttl: 1, content: "not an address" }),
    failing(400, 9005),
  );
  await assert.rejects(client.dns.records.create({ zone_id, type: "A", name: "alias", ttl: 1, content: "192.0.2.1" }), failing(400, 81054));
  assert.deepEqual(await client.dns.records.delete(www.id, { zone_id }), { id: www.id });
  await assert.rejects(client.dns.records.get(www.id, { zone_id }), failing(404, 81044));
});

test("rulesets: SPEC 4.5 with the client, from the 404 to the second rule", async () => {
  const zone_id = await newZone("rulesets.test");
  const phase = "http_response_firewall_managed";
  const detection = {
    action: "execute" as const,
    action_parameters: { id: "e22d83c647c64a3eae91b71b499d988e" },
    expression: "true",
    description: "Execute sensitive data detection",
  };
  await assert.rejects(client.rulesets.phases.get(phase, { zone_id }), failing(404, 10003));
  const created = await ruleset(client.rulesets.create({ zone_id, kind: "zone", name: "Response rules", phase, rules: [detection] }));
  assert.deepEqual(
    [created.rules[0]?.enabled, created.rules[0]?.action_parameters],
    [true, { id: detection.action_parameters.id, version: "latest" }],
  );
  assert.deepEqual(await client.rulesets.phases.get(phase, { zone_id }), created);
  const added = await ruleset(
    client.rulesets.rules.create(created.id, { zone_id, ...detection, expression: 'http.host eq "a.rulesets.test"' }),
  );
  assert.equal(added.rules.length, 2);
  await assert.rejects(client.rulesets.create({ zone_id, kind: "zone", name: "Second", phase, rules: [] }), (error) => {
    assert.ok(error instanceof Cloudflare.APIError);
    const first: { code?: number; source?: { pointer?: string } } | undefined = error.errors[0];
    assert.deepEqual([error.status, first?.code, first?.source?.pointer], [400, 20217, "/kind"]);
    return true;
  });
});

test("rulesets: update, entry point, rules and delete work for the zone and for the account", async () => {
  const zone_id = await newZone("more-rulesets.test");
  const phase = "http_request_firewall_custom";
  const block = (description: string) => ({ action: "block" as const, expression: "true", description });
  for (const owner of [{ zone_id }, { account_id }]) {
    const put = await ruleset(client.rulesets.phases.update(phase, { ...owner, name: "Custom", rules: [block("one")] }));
    const grown = await ruleset(client.rulesets.rules.create(put.id, { ...owner, ...block("zero"), position: { before: "" } }));
    assert.deepEqual(
      grown.rules.map(({ description }) => description),
      ["zero", "one"],
    );
    const one = grown.rules[1]?.id ?? "";
    const edited = await ruleset(client.rulesets.rules.edit(one, { ruleset_id: put.id, ...owner, ...block("uno"), enabled: false }));
    assert.deepEqual(
      edited.rules.map(({ description, enabled }) => [description, enabled]),
      [
        ["zero", true],
        ["uno", false],
      ],
    );
    assert.equal((await ruleset(client.rulesets.rules.delete(one, { ruleset_id: put.id, ...owner }))).rules.length, 1);
    assert.equal((await ruleset(client.rulesets.update(put.id, { ...owner, rules: [] }))).rules.length, 0);
    assert.ok((await all(client.rulesets.list(owner))).some(({ id, phase: listed }) => id === put.id && listed === phase));
    assert.equal((await ruleset(client.rulesets.get(put.id, owner))).name, "Custom");
    await client.rulesets.delete(put.id, owner);
    await assert.rejects(client.rulesets.get(put.id, owner), failing(404, 10001));
  }
});

test("rulesets: versions, tags, entry points and pages work with the client for the zone and for the account", async () => {
  const zone_id = await newZone("ruleset-versions.test");
  const phase = "http_request_firewall_custom";
  const block = (expression: string) => ({ action: "block" as const, expression });
  for (const owner of [{ zone_id }, { account_id }]) {
    const { id } = await ruleset(client.rulesets.phases.update(phase, { ...owner, name: "one", rules: [block("true")] }));
    await client.rulesets.update(id, { ...owner, name: "two", rules: [block("false")] });
    assert.deepEqual(
      (await all(client.rulesets.versions.list(id, owner))).map(({ version }) => version),
      ["2", "1"],
    );
    const first = await ruleset(client.rulesets.versions.get("1", { ruleset_id: id, ...owner }));
    assert.deepEqual([first.name, first.version, first.rules[0]?.expression], ["one", "1", "true"]);
    assert.deepEqual(
      (await all(client.rulesets.phases.versions.list(phase, owner))).map(({ version }) => version),
      ["2", "1"],
    );
    assert.deepEqual(await ruleset(client.rulesets.phases.versions.get("1", { ruleset_phase: phase, ...owner })), first);
    await client.rulesets.versions.delete("1", { ruleset_id: id, ...owner });
    await assert.rejects(client.rulesets.versions.get("1", { ruleset_id: id, ...owner }), failing(404, 10004));
    // The client knows no trials; the service does.
    const at = "zone_id" in owner ? `/zones/${zone_id}` : `/accounts/${account_id}`;
    const tried = (await client.put(`${at}/rulesets/${id}?dry_run=true`, { body: { rules: [] } })) as { result: unknown; success: boolean };
    assert.deepEqual([tried.result, tried.success], [null, true]);
    assert.equal((await ruleset(client.rulesets.get(id, owner))).rules.length, 1);
    await client.rulesets.delete(id, owner);
  }
  const made: string[] = [];
  for (const name of ["a", "b", "c"]) {
    const { id } = await ruleset(client.rulesets.create({ account_id, kind: "custom", name, phase, rules: [] }));
    made.push(id);
  }
  const listed = await all(client.rulesets.list({ account_id, per_page: 2 }));
  assert.ok(made.every((id) => listed.some((item) => item.id === id)));
  assert.equal(new Set(listed.map(({ id }) => id)).size, listed.length);
  for (const id of made) await client.rulesets.delete(id, { account_id });
});

test("rulesets: overrides of a managed ruleset and moves of rules work with the client", async () => {
  const zone_id = await newZone("ruleset-overrides.test");
  const managed = "e22d83c647c64a3eae91b71b499d988e";
  const [first] = (await ruleset(client.rulesets.get(managed, { zone_id }))).rules;
  assert.ok(first);
  const overrides = {
    action: "log" as const,
    enabled: true,
    categories: [{ category: "secrets", enabled: false }],
    rules: [{ id: first.id, enabled: false }],
  };
  const execute = { action: "execute" as const, action_parameters: { id: managed, overrides }, expression: "true" };
  const phase = "http_response_firewall_managed";
  const deployed = await ruleset(client.rulesets.phases.update(phase, { zone_id, rules: [execute] }));
  assert.deepEqual(deployed.rules[0]?.action_parameters, { id: managed, version: "latest", overrides });
  const wrong = { ...execute, action_parameters: { id: managed, overrides: { rules: [{ id: "0".repeat(32), enabled: true }] } } };
  await assert.rejects(client.rulesets.phases.update(phase, { zone_id, rules: [wrong] }), failing(400, 20015));
  const tagged = await ruleset(
    client.get(`/zones/${zone_id}/rulesets/${managed}/versions/latest/by_tag/secrets`).then((body) => (body as { result: unknown }).result),
  );
  assert.ok(tagged.rules.length > 0 && tagged.rules.every(({ categories }) => categories?.includes("secrets")));

  const custom = "http_request_firewall_custom";
  const block = (description: string) => ({ action: "block" as const, expression: "true", description });
  const made = await ruleset(client.rulesets.phases.update(custom, { zone_id, rules: ["a", "b", "c"].map(block) }));
  const [a, , c] = made.rules.map(({ id }) => id);
  const order = async (moved: Promise<unknown>): Promise<string> =>
    (await ruleset(moved)).rules.map(({ description }) => description).join("");
  const move = (rule: string | undefined, position: object) =>
    order(client.rulesets.rules.edit(rule ?? "", { ruleset_id: made.id, zone_id, position } as never));
  assert.equal(await move(c, { before: a }), "cab");
  assert.equal(await move(a, { after: "" }), "cba");
  assert.equal(await move(a, { index: 1 }), "acb");
});

test("rules.lists: create, items, search, bulk operations, use in a rule, delete", async () => {
  const { lists } = client.rules;
  const list = await lists.create({ account_id, name: "sdk_list", kind: "ip", description: "made by the client" });
  const id = list.id ?? "";
  const ended = async (operation: { operation_id?: string } | null): Promise<unknown> => {
    await server.control.ruleListItems.idle();
    return (await lists.bulkOperations.get(operation?.operation_id ?? "", { account_id }))?.status;
  };
  const body = Array.from({ length: 12 }, (_, n) => ({ ip: `192.0.2.${n}`, comment: n === 7 ? "seven" : "" }));
  assert.equal(await ended(await lists.items.create(id, { account_id, body })), "completed");
  const items = await all(lists.items.list(id, { account_id, per_page: 5 }));
  assert.equal(items.length, 12);
  const [seven] = await all(lists.items.list(id, { account_id, search: "seven" }));
  assert.deepEqual(
    seven,
    items.find((item) => "ip" in item && item.ip === "192.0.2.7"),
  );
  assert.deepEqual(await lists.items.get(seven?.id ?? "", { account_id, list_id: id }), seven);
  assert.equal(await ended(await lists.items.delete(id, { account_id, items: [{ id: seven?.id ?? "" }] } as never)), "completed");
  assert.equal(await ended(await lists.items.update(id, { account_id, body: [{ ip: "198.51.100.0/24" }] })), "completed");
  assert.equal((await lists.get(id, { account_id })).num_items, 1);
  assert.equal((await lists.update(id, { account_id, description: "other" })).description, "other");
  const phase = "http_request_firewall_custom";
  const rule = { action: "block" as const, expression: "ip.src in $sdk_list" };
  const { id: rulesetId } = await ruleset(client.rulesets.phases.update(phase, { account_id, rules: [rule] }));
  await assert.rejects(lists.delete(id, { account_id }), failing(400, 10007));
  await client.rulesets.delete(rulesetId, { account_id });
  assert.deepEqual(await lists.delete(id, { account_id }), { id });
  assert.deepEqual(
    (await all(lists.list({ account_id }))).filter(({ name }) => name === "sdk_list"),
    [],
  );
});

test("aiGateway: create, get, update, list, delete", async () => {
  const plain = {
    account_id,
    cache_invalidate_on_update: true,
    cache_ttl: 0,
    collect_logs: true,
    rate_limiting_interval: 0,
    rate_limiting_limit: 0,
  };
  const created = await client.aiGateway.create({ ...plain, id: "sdk" });
  assert.deepEqual([created.id, created.authentication], ["sdk", false]);
  assert.equal((await client.aiGateway.update("sdk", { ...plain, authentication: true })).authentication, true);
  assert.equal((await client.aiGateway.get("sdk", { account_id })).authentication, true);
  assert.deepEqual(
    (await all(client.aiGateway.list({ account_id, search: "sd" }))).map(({ id }) => id),
    ["sdk"],
  );
  await assert.rejects(client.aiGateway.create({ ...plain, id: "bad id" }), failing(400, 7001));
  await assert.rejects(client.aiGateway.create({ ...plain, id: "other", retry_max_attempts: 9 }), failing(400, 7001));
  assert.equal((await client.aiGateway.delete("sdk", { account_id })).id, "sdk");
  await assert.rejects(client.aiGateway.get("sdk", { account_id }), failing(404, 7002));
});
