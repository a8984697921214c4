import assert from "node:assert/strict";
import { systemActor, type Call, DryRunEnd } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { RESPONSE_SCORES_RULESET_ID } from "#rules/managed/response-rulesets.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import type { RulesetEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";
import type { RulesetScope } from "./ruleset-scope.ts";

const ALL = { per_page: 50 };
const RESPONSE_PHASE = "http_response_firewall_managed";
const CUSTOM_PHASE = "http_request_firewall_custom";
const DETECTION = {
  action: "execute",
  action_parameters: { id: SENSITIVE_DATA_RULESET_ID },
  expression: "true",
  description: "Sensitive data",
};
const block = (expression: string) => ({ action: "block", expression });

interface Scoped {
  readonly rulesets: Control["rulesets"];
  readonly versions: Control["rulesetVersions"];
  call(): Call;
  readonly zone: RulesetScope;
  readonly account: RulesetScope;
}

async function scoped(store: Store, options: Parameters<typeof controlOver>[1] = {}): Promise<Scoped> {
  const { control, account_id, call } = await controlOver(store, options);
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  return {
    rulesets: control.rulesets,
    versions: control.rulesetVersions,
    call,
    zone: { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: systemActor("test") },
    account: { level: "account", account_id, zone_id: null, plan: null, actor: systemActor("test") },
  };
}

storeTest("SPEC 2.6, SPEC 4.5 and SPEC 7.10: entry point 404, then POST of a ruleset, then POST of a rule", async ({ store }) => {
  const { rulesets, call, zone } = await scoped(store);
  await assert.rejects(rulesets.entryPoint(zone, RESPONSE_PHASE), failing(10003));
  const written = call();
  const created = await rulesets.create(written, zone, { name: "Zone detection", kind: "zone", phase: RESPONSE_PHASE, rules: [DETECTION] });
  assert.deepEqual([created.kind, created.phase, created.version, created.source], ["zone", RESPONSE_PHASE, "1", "firewall_managed"]);
  const [rule] = created.rules;
  assert.ok(rule);
  assert.deepEqual(
    [rule.enabled, rule.version, rule.ref, rule.action_parameters],
    [true, "1", rule.id, { id: SENSITIVE_DATA_RULESET_ID, version: "latest" }],
  );
  assert.deepEqual(await rulesets.entryPoint(zone, RESPONSE_PHASE), created);

  const more = await rulesets.addRule(call(), zone, created.id, { ...DETECTION, expression: 'http.host eq "a.example.test"' });
  assert.deepEqual(
    [more.version, more.rules.length, more.rules[0], more.rules[1]?.expression],
    ["2", 2, rule, 'http.host eq "a.example.test"'],
  );

  const [delta] = (await store.changesSince((written.rev ?? 0) - 1, 1)) ?? [];
  const entry = delta?.changes[0]?.value as RulesetEntry;
  assert.deepEqual(
    [delta?.changes[0]?.kind, delta?.changes[0]?.id, entry.level, entry.owner_id, entry.rules[0]?.action],
    ["ruleset", created.id, "zone", zone.zone_id, "execute"],
  );
});

storeTest("SPEC 2.6: a phase has one entry point per level, and a ruleset belongs to its level", async ({ store }) => {
  const { rulesets, call, zone, account } = await scoped(store);
  const first = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE });
  await assert.rejects(rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE }), failing(20217, "/kind"));
  await rulesets.create(call(), account, { kind: "root", phase: CUSTOM_PHASE });
  for (const name of ["one", "two"]) await rulesets.create(call(), account, { name, kind: "custom", phase: CUSTOM_PHASE });
  await assert.rejects(rulesets.get(account, first.id), failing(10001));
  await assert.rejects(rulesets.create(call(), zone, { kind: "root", phase: CUSTOM_PHASE }), failing(20015, "/kind"));
  await assert.rejects(rulesets.create(call(), account, { kind: "managed", phase: CUSTOM_PHASE }), failing(20015, "/kind"));
  await assert.rejects(rulesets.create(call(), zone, { kind: "zone", phase: "http_nowhere" }), failing(20015, "/phase"));
  await assert.rejects(rulesets.create(call(), account, { kind: "root", phase: "http_request_origin" }), failing(20015, "/phase"));
  assert.deepEqual(
    (await rulesets.list(zone, ALL)).items.map(({ id, kind }) => [id, kind]),
    [
      [first.id, "zone"],
      [SCORES_RULESET_ID, "managed"],
      [RESPONSE_SCORES_RULESET_ID, "managed"],
      [SENSITIVE_DATA_RULESET_ID, "managed"],
      ["efb7b8c949ac4650a09736fc376e9aee", "managed"],
    ],
  );
  assert.equal((await rulesets.list(account, ALL)).items.filter(({ kind }) => kind === "custom").length, 2);
  assert.ok((await rulesets.get(zone, SENSITIVE_DATA_RULESET_ID)).rules.every(({ action }) => action === "log"));
});

storeTest("PUT creates the entry point, keeps rules by ID or ref, and raises the version of changed rules", async ({ store }) => {
  const { rulesets, call, zone, account } = await scoped(store);
  // SPEC 4.6: id, version and ref may be empty strings.
  const empty = { id: "", version: "", ref: "" };
  const first = await rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, {
    name: "rules",
    rules: [
      { ...block("true"), ...empty },
      { ...block('http.host eq "a"'), ref: "mine" },
    ],
  });
  const [a, b] = first.rules;
  assert.ok(a && b);
  const second = await rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, {
    rules: [
      { ...block('http.host eq "b"'), ref: "mine" },
      { ...block("true"), id: a.id },
    ],
  });
  assert.deepEqual([second.id, second.version, second.name], [first.id, "2", "rules"]);
  assert.deepEqual(
    second.rules.map(({ id, version, expression }) => [id, version, expression]),
    [
      [b.id, "2", 'http.host eq "b"'],
      [a.id, "1", "true"],
    ],
  );
  await assert.rejects(
    rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, {
      rules: [
        { ...block("true"), ref: "x" },
        { ...block("true"), ref: "x" },
      ],
    }),
    failing(20015, "/rules/1/ref"),
  );
  await assert.rejects(rulesets.update(call(), zone, first.id, { phase: "http_ratelimit" }), failing(20015, "/phase"));
  assert.deepEqual((await rulesets.update(call(), zone, first.id, { rules: [] })).rules, []);
  await rulesets.delete(call(), zone, first.id);
  await assert.rejects(rulesets.delete(call(), zone, first.id), failing(10001));
  // The program's rulesets exist and cannot be changed.
  for (const scope of [zone, account]) {
    await assert.rejects(rulesets.update(call(), scope, SCORES_RULESET_ID, { rules: [] }), failing(20015));
    await assert.rejects(rulesets.addRule(call(), scope, SCORES_RULESET_ID, block("true")), failing(20015));
    await assert.rejects(rulesets.delete(call(), scope, SCORES_RULESET_ID), failing(20015));
  }
  await assert.rejects(rulesets.entryPoint(zone, CUSTOM_PHASE), failing(10003));
});

storeTest("rules are added, moved, replaced and deleted", async ({ store }) => {
  const { rulesets, call, zone } = await scoped(store);
  const { id } = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE });
  const add = (name: string, position?: { before?: string; after?: string; index?: number }) =>
    rulesets.addRule(call(), zone, id, { ...block("true"), description: name, ...(position && { position }) });
  const names = async (): Promise<string> => (await rulesets.get(zone, id)).rules.map(({ description }) => description).join(" ");
  const idOf = async (name: string): Promise<string> =>
    (await rulesets.get(zone, id)).rules.find(({ description }) => description === name)?.id ?? "";
  await add("b");
  await add("d");
  await add("a", { before: "" });
  await add("c", { after: await idOf("b") });
  await add("e", { after: "" });
  await add("x", { index: 1 });
  assert.equal(await names(), "x a b c d e");
  await rulesets.editRule(call(), zone, id, await idOf("x"), { position: { index: 6 } });
  assert.equal(await names(), "a b c d e x");
  await rulesets.editRule(call(), zone, id, await idOf("e"), { position: { before: await idOf("a") } });
  assert.equal(await names(), "e a b c d x");
  const replaced = await rulesets.editRule(call(), zone, id, await idOf("c"), { ...block("true"), enabled: false, description: "c" });
  assert.deepEqual(
    replaced.rules.map(({ enabled }) => enabled),
    [true, true, true, false, true, true],
  );
  await rulesets.deleteRule(call(), zone, id, await idOf("x"));
  assert.equal(await names(), "e a b c d");
  for (const [position, source] of [
    [{ index: 9 }, "/position/index"],
    [{ before: "nope" }, "/position/before"],
    [{}, "/position"],
    [{ index: 1, before: "" }, "/position"],
  ] as const) {
    await assert.rejects(add("y", position), failing(20015, source));
  }
  await assert.rejects(rulesets.deleteRule(call(), zone, id, "nope"), failing(10002));
  await assert.rejects(rulesets.editRule(call(), zone, id, await idOf("a"), { enabled: false }), failing(20015, "/action"));
});

storeTest("invalid rules are refused with a pointer to the field, and nothing is stored", async ({ store }) => {
  const { rulesets, call, zone } = await scoped(store);
  const before = await store.revision();
  const create = (phase: string, ...rules: object[]) => rulesets.create(call(), zone, { kind: "zone", phase, rules });
  await assert.rejects(create(CUSTOM_PHASE, block("true"), { action: "blok", expression: "true" }), failing(20015, "/rules/1/action"));
  await assert.rejects(create(CUSTOM_PHASE, block("http.nope eq 1")), failing(20127, "/rules/0/expression"));
  await assert.rejects(
    create(CUSTOM_PHASE, { ...block("true"), action_parameters: { respons: {} } }),
    failing(20015, "/rules/0/action_parameters/respons"),
  );
  await assert.rejects(create(CUSTOM_PHASE, { ...block("true"), ratelimit: { period: 10 } }), failing(20015, "/rules/0/ratelimit"));
  await assert.rejects(create("http_ratelimit", block("true")), failing(20015, "/rules/0/ratelimit"));
  // SPEC 6: sensitive data rules only log, and only on responses.
  await assert.rejects(create("http_request_firewall_managed", DETECTION), failing(20015, "/rules/0/action_parameters/id"));
  const overrides = { id: SENSITIVE_DATA_RULESET_ID, overrides: { action: "block" } };
  await assert.rejects(
    create(RESPONSE_PHASE, { ...DETECTION, action_parameters: overrides }),
    failing(20015, "/rules/0/action_parameters/overrides/action"),
  );
  // Without any rules as well as with some.
  await assert.rejects(create("http_response_cache_settings"), failing(20015));
  await assert.rejects(rulesets.putEntryPoint(call(), zone, "http_request_sbfm", { rules: [] }), failing(20015));
  assert.equal(await store.revision(), before);
});

storeTest("every write is a version, and versions can be read, found by tag and deleted", async ({ store }) => {
  const { rulesets, versions, call, zone } = await scoped(store);
  const { id } = await rulesets.create(call(), zone, { name: "first", kind: "zone", phase: CUSTOM_PHASE, rules: [block("true")] });
  await rulesets.update(call(), zone, id, { name: "second", rules: [] });
  await rulesets.addRule(call(), zone, id, block("false"));
  assert.deepEqual(
    (await versions.list(zone, id)).map(({ version, name }) => [version, name]),
    [
      ["3", "second"],
      ["2", "second"],
      ["1", "first"],
    ],
  );
  const first = await versions.get(zone, id, "1");
  assert.deepEqual([first.name, first.rules.map(({ expression }) => expression)], ["first", ["true"]]);
  assert.deepEqual(await versions.getOfEntryPoint(zone, CUSTOM_PHASE, "3"), await rulesets.get(zone, id));
  assert.deepEqual(await versions.ofEntryPoint(zone, CUSTOM_PHASE), await versions.list(zone, id));
  await assert.rejects(versions.ofEntryPoint(zone, RESPONSE_PHASE), failing(10003));
  await assert.rejects(versions.delete(call(), zone, id, "3"), failing(20015, ""));
  await versions.delete(call(), zone, id, "1");
  await assert.rejects(versions.get(zone, id, "1"), failing(10004));
  await assert.rejects(versions.get(zone, id, "one"), failing(10004));
  const tagged = await versions.byTag(zone, SENSITIVE_DATA_RULESET_ID, "latest", "secrets");
  assert.ok(tagged.rules.length > 0 && tagged.rules.every(({ categories }) => categories?.includes("secrets")));
  assert.deepEqual((await versions.byTag(zone, id, "3", "secrets")).rules, []);
  await rulesets.delete(call(), zone, id);
  await assert.rejects(versions.list(zone, id), failing(10001));
  assert.deepEqual(await store.read.selectFrom("ruleset_versions").select("version").where("ruleset_id", "=", id).execute(), []);
});

storeTest("the operator's limits apply to stored versions, rules and custom rulesets", async ({ store }) => {
  const rulesetLimits = { rulesMax: 3, freeRulesMax: 1, customRulesetsMax: 1, versionsKept: 2 };
  const { rulesets, versions, call, zone, account } = await scoped(store, { rulesetLimits });
  const { id } = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE });
  for (const expression of ["true", "false", "ssl"]) await rulesets.addRule(call(), zone, id, block(expression));
  assert.deepEqual(
    (await versions.list(zone, id)).map(({ version }) => version),
    ["4", "3"],
  );
  await assert.rejects(rulesets.addRule(call(), zone, id, block("true")), failing(20015, "/rules"));
  const free = { ...zone, plan: "free" };
  await assert.rejects(rulesets.update(call(), free, id, { rules: [block("true"), block("false")] }), failing(20015, "/rules"));
  await rulesets.create(call(), account, { kind: "custom", phase: CUSTOM_PHASE });
  await assert.rejects(rulesets.create(call(), account, { kind: "custom", phase: CUSTOM_PHASE }), failing(20015, "/kind"));
  const four = Array.from({ length: 4 }, () => block("("));
  for (const write of [
    rulesets.putEntryPoint(call(), zone, "http_ratelimit", { rules: four }),
    rulesets.update(call(), zone, id, { rules: four }),
  ])
    await assert.rejects(write, { message: /at most 3 rules/ }, "counted before any is parsed");
});

storeTest("the rules of an account and its zones have a limited length together, unless the operator trusts it", async ({ store }) => {
  const rulesetLimits = { accountBytesMax: 20_000 };
  const long = (tag: string) => block(`http.request.uri.path contains "${tag.padEnd(4_000, "x")}"`);
  const three = [long("a"), long("b"), long("c")];
  const { rulesets, call, zone, account } = await scoped(store, { rulesetLimits, ownership: { trustedAccounts: ["another"] } });
  const { id } = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE, rules: three });
  const custom = { kind: "custom", phase: CUSTOM_PHASE } as const;
  await assert.rejects(rulesets.create(call(), account, { ...custom, rules: three }), failing(20015, "/rules"));
  const second = await rulesets.create(call(), account, { ...custom, rules: [long("d")] });
  for (const write of [
    () => rulesets.addRule(call(), account, second.id, long("e")),
    () => rulesets.update(call(), zone, id, { rules: [...three, long("f")] }),
    () => rulesets.putEntryPoint(call(), account, CUSTOM_PHASE, { rules: three }),
  ])
    await assert.rejects(write(), { message: /at most 20000 bytes together/ });
  await rulesets.update(call(), zone, id, { rules: [long("a"), block("false")] });
  await rulesets.addRule(call(), account, second.id, long("e"));

  const trusted = await controlOver(store, { rulesetLimits });
  await trusted.control.rulesets.update(call(), zone, id, { rules: [...three, ...three] });
});

storeTest("a dry run finds the errors of its write and changes nothing", async ({ store }) => {
  const { rulesets, versions, call, zone } = await scoped(store);
  const { id, rules } = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE, rules: [block("true"), block("false")] });
  await rulesets.update(call(), zone, id, { rules: [block("true")] });
  const before = [await rulesets.get(zone, id), await versions.list(zone, id), await store.revision()];
  const trial = (): Call => ({ ...call(), dry_run: true });
  const over = (error: unknown) => error instanceof DryRunEnd;
  await assert.rejects(rulesets.create(trial(), zone, { kind: "zone", phase: RESPONSE_PHASE }), over);
  await assert.rejects(rulesets.create(trial(), zone, { kind: "zone", phase: CUSTOM_PHASE }), failing(20217, "/kind"));
  await assert.rejects(rulesets.putEntryPoint(trial(), zone, RESPONSE_PHASE, {}), over);
  await assert.rejects(rulesets.update(trial(), zone, id, { rules: [block("false")] }), over);
  await assert.rejects(rulesets.addRule(trial(), zone, id, block("false")), over);
  await assert.rejects(rulesets.addRule(trial(), zone, id, block("fals")), failing(20127, "/expression"));
  await assert.rejects(rulesets.delete(trial(), zone, id), over);
  await assert.rejects(versions.delete(trial(), zone, id, "1"), over);
  await assert.rejects(rulesets.deleteRule(trial(), zone, id, rules[0]?.id ?? ""), failing(10002));
  assert.deepEqual([await rulesets.get(zone, id), await versions.list(zone, id), await store.revision()], before);
});

storeTest("an account executes its custom rulesets, which cannot be deleted while in use", async ({ store }) => {
  const { rulesets, call, zone, account } = await scoped(store);
  const custom = await rulesets.create(call(), account, { name: "mine", kind: "custom", phase: CUSTOM_PHASE, rules: [block("true")] });
  const execute = { action: "execute", action_parameters: { id: custom.id }, expression: 'cf.zone.name eq "example.test"' };
  await assert.rejects(rulesets.addRule(call(), account, custom.id, execute), failing(20015, "/action_parameters"));
  await assert.rejects(
    rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, { rules: [execute] }),
    failing(20015, "/rules/0/action_parameters/id"),
  );
  await assert.rejects(
    rulesets.putEntryPoint(call(), account, "http_request_firewall_managed", { rules: [execute] }),
    failing(20015, "/rules/0/action_parameters/id"),
  );
  const overridden = { ...execute, action_parameters: { id: custom.id, overrides: {} } };
  await assert.rejects(
    rulesets.putEntryPoint(call(), account, CUSTOM_PHASE, { rules: [overridden] }),
    failing(20015, "/rules/0/action_parameters/overrides"),
  );
  const root = await rulesets.putEntryPoint(call(), account, CUSTOM_PHASE, { rules: [execute] });
  assert.deepEqual(root.rules[0]?.action_parameters, { id: custom.id, version: "latest" });
  await assert.rejects(rulesets.delete(call(), account, custom.id), failing(20014));
  await rulesets.update(call(), account, root.id, { rules: [] });
  await rulesets.delete(call(), account, custom.id);
  await assert.rejects(rulesets.create(call(), account, { kind: "custom", phase: "http_request_late_transform" }), failing(20015, "/kind"));
});

storeTest("lists are paged, and unknown fields are refused with a pointer", async ({ store }) => {
  const { rulesets, call, zone, account } = await scoped(store);
  for (const name of ["a", "b", "c"]) await rulesets.create(call(), account, { name, kind: "custom", phase: CUSTOM_PHASE });
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await rulesets.list(account, { per_page: 2, ...(cursor === "" ? {} : { cursor }) });
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.after;
  }
  assert.deepEqual(
    seen,
    (await rulesets.list(account, ALL)).items.map(({ id }) => id),
  );
  assert.equal(new Set(seen).size, seen.length);
  await assert.rejects(rulesets.list(account, { per_page: 2, cursor: "?" }), failing(10400, "/cursor"));
  const misspelt = { ...block("true"), expresion: "true" };
  await assert.rejects(
    rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, { rules: [block("true"), misspelt] }),
    failing(20015, "/rules/1/expresion"),
  );
  const ruleset = { rulez: [], rules: [] };
  await assert.rejects(rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, ruleset), failing(20015, "/rulez"));
  await assert.rejects(rulesets.putEntryPoint(call(), zone, CUSTOM_PHASE, { kind: "root" }), failing(20015, "/kind"));
});

storeTest("rules added concurrently are all stored, each with its own version", async ({ store }) => {
  const { rulesets, call, zone } = await scoped(store);
  const { id } = await rulesets.create(call(), zone, { kind: "zone", phase: CUSTOM_PHASE });
  const written = await Promise.all(
    Array.from({ length: 20 }, (_, index) => rulesets.addRule(call(), zone, id, { ...block("true"), description: String(index) })),
  );
  assert.equal(new Set(written.map(({ version }) => version)).size, 20);
  assert.equal((await rulesets.get(zone, id)).rules.length, 20);
});

storeTest("messages name literals that no normalized path has, while the zone normalizes paths", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone: RulesetScope = { level: "zone", account_id, zone_id: id, plan: "enterprise", actor: systemActor("test") };
  const rules = [
    block('http.request.uri.path contains "/../"'),
    block('raw.http.request.uri.path contains "/../" or http.request.uri.path contains "/a%2F"'),
    block('http.request.uri.path in {"/enc%2fx" "/b"}'),
  ];
  const noted = async (): Promise<readonly (readonly string[])[]> => {
    const made = call();
    const { id: ruleset } = await control.rulesets.putEntryPoint(made, zone, CUSTOM_PHASE, { rules });
    return [made.notes ?? [], await control.ruleTraces.notes(zone, ruleset)];
  };
  const [written, read] = await noted();
  assert.deepEqual(read, written);
  assert.equal(written?.length, 2);
  for (const [i, ends] of [
    [0, 'has "/../", with which it compares http.request.uri.path: after URL normalization that is "/".'],
    [1, 'has "/enc%2fx", with which it compares http.request.uri.path: after URL normalization that is "/enc%2Fx".'],
  ] as const)
    assert.ok(written[i]?.endsWith(ends), written[i]);
  const value = { scope: "none", type: "cloudflare" };
  await control.zoneSettings.edit(call(), id, [{ id: "url_normalization", value, pointer: "" }]);
  assert.deepEqual(await noted(), [[], []]);
});
