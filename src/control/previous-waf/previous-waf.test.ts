import assert from "node:assert/strict";
import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { ANOMALY_PACKAGE_ID, TRADITIONAL_PACKAGE_ID } from "#rules/previous-waf/packages.ts";
import type { RulesetEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

interface World {
  readonly control: Control;
  readonly zone: { readonly id: string; readonly account_id: string };
  readonly call: () => Call;
}

async function world(store: Store): Promise<World> {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "older.test", account: { id: account_id } });
  return { control, call, zone: { id, account_id } };
}

/** The slots that a plane gets that begins now, which are those that deltas have told of. */
async function slots(store: Store): Promise<Record<string, RulesetEntry>> {
  const { ops } = await rebuildSnapshot(store);
  const sets = await store.changesSince(0, 10_000);
  const told = new Map<string, unknown>();
  for (const { kind, id, value } of (sets ?? []).flatMap(({ changes }) => changes)) {
    if (kind !== "ruleset") continue;
    if (value === null) told.delete(id);
    else told.set(id, value);
  }
  const built = ops.filter(({ kind }) => kind === "ruleset");
  assert.deepEqual(new Map(built.map(({ id, value }) => [id, value])), told);
  return Object.fromEntries(built.map(({ value }) => [(value as RulesetEntry).slot ?? "", value as RulesetEntry]));
}

const PAGE = { page: 1, per_page: 100 };

storeTest("firewall rules reach the edge in order, and a filter or list in use cannot be deleted", async ({ store }) => {
  const { control, zone, call } = await world(store);
  const { filters, firewallRules } = control.previousWaf;
  await control.ruleLists.create(call(), zone.account_id, { name: "offices", kind: "ip" });
  const [filter] = await filters.create(call(), zone, [{ expression: "ip.src in $offices" }]);
  const made = await firewallRules.create(call(), zone, [
    { action: "block", filter: { expression: "ssl" } },
    { action: "allow", filter: { id: filter!.id } },
    { action: "challenge", filter: { expression: "not ssl" }, priority: 5 },
    { action: "bypass", products: ["waf", "rateLimit"], filter: { expression: "true", paused: true } },
  ]);
  const { firewall_rules: entry } = await slots(store);
  assert.deepEqual(
    entry?.rules.map(({ id, action, event_action, enabled }) => [made.findIndex((rule) => rule.id === id), action, event_action, enabled]),
    [
      [2, "challenge", undefined, true],
      [3, "skip", "bypass", false],
      [1, "skip", "allow", true],
      [0, "block", undefined, true],
    ],
  );
  assert.deepEqual(entry?.rules[1]?.action_parameters, { products: ["rateLimit"], rulesets: [TRADITIONAL_PACKAGE_ID, ANOMALY_PACKAGE_ID] });
  await assert.rejects(filters.delete(call(), zone, [filter!.id]), failing(10452));
  const [list] = (await control.ruleLists.list(zone.account_id)) as readonly { id: string }[];
  await assert.rejects(control.ruleLists.delete(call(), zone.account_id, list!.id), failing(10007));

  const [first] = await firewallRules.prioritize(call(), zone, [{ id: made[0]!.id, priority: 1 }]);
  assert.equal(first?.priority, 1);
  assert.equal((await slots(store))["firewall_rules"]?.rules[0]?.id, made[0]!.id);
  const gone = await firewallRules.delete(
    call(),
    zone,
    made.map(({ id }) => id),
    true,
  );
  assert.ok(gone.every((rule) => "deleted" in rule.filter && rule.filter.deleted));
  assert.deepEqual(await slots(store), {});
  assert.equal((await filters.list(zone, {}, PAGE)).total_count, 0);
});

storeTest("invalid input is refused with a pointer to the field and stored nowhere", async ({ store }) => {
  const { control, zone, call } = await world(store);
  const { filters, firewallRules, rateLimits, pageRules, packages, overrides } = control.previousWaf;
  const good = { action: "block", filter: { expression: "ssl" } } as const;
  await assert.rejects(
    firewallRules.create(call(), zone, [good, { action: "block", filter: { expression: "sl" } }]),
    failing(20127, "/1/filter/expression"),
  );
  await assert.rejects(firewallRules.create(call(), zone, [{ filter: { expression: "ssl" } }]), failing(10451, "/action"));
  await assert.rejects(firewallRules.create(call(), zone, [{ ...good, action: "bypass" }]), failing(10451, "/products"));
  await assert.rejects(firewallRules.create(call(), zone, [{ ...good, products: ["waf"] }]), failing(10451, "/products"));
  await assert.rejects(firewallRules.create(call(), zone, [{ action: "block" }]), failing(10451, "/filter"));
  await assert.rejects(firewallRules.create(call(), zone, [{ action: "block", filter: { id: "0".repeat(32) } }]), failing(10450));
  await assert.rejects(firewallRules.update(call(), zone, [{ ...good, id: "0".repeat(32) }]), failing(10450));
  await assert.rejects(filters.update(call(), zone, [{ expression: "ssl" }]), failing(10451, "/id"));
  const limit = { match: {}, threshold: 1, period: 10, action: { mode: "ban" as const, timeout: 10 } };
  const limited = (more: object) => rateLimits.create(call(), zone, { ...limit, ...more });
  await assert.rejects(limited({ action: { mode: "ban" } }), failing(10451, "/action/timeout"));
  await assert.rejects(limited({ action: { mode: "challenge", timeout: 5 } }), failing(10451, "/action/timeout"));
  await assert.rejects(limited({ match: { request: { url: "a b" } } }), failing(10451, "/match/request/url"));
  await assert.rejects(limited({ bypass: [{ name: "url", value: "**" }] }), failing(10451, "/bypass/0/value"));
  const targets = [{ target: "url" as const, constraint: { operator: "matches" as const, value: "*" } }];
  await assert.rejects(
    pageRules.create(call(), zone, { targets, actions: [{ id: "waf", value: "maybe" }] }),
    failing(10451, "/actions/0/value"),
  );
  await assert.rejects(
    pageRules.create(call(), zone, { targets, actions: [{ id: "ssl", value: "full" }] }),
    failing(10415, "/actions/0/id"),
  );
  await assert.rejects(packages.edit(call(), zone, TRADITIONAL_PACKAGE_ID, { sensitivity: "low" }), failing(10451));
  await assert.rejects(packages.editRule(call(), zone, ANOMALY_PACKAGE_ID, "0".repeat(32), "on"), failing(10450));
  await assert.rejects(overrides.create(call(), zone, { urls: ["*"], rules: { nobody: "block" } }), failing(10451, "/rules"));
  await assert.rejects(overrides.create(call(), zone, { urls: ["*"], groups: { nobody: "block" } }), failing(10451, "/groups"));
  assert.deepEqual(await slots(store), {});
  assert.equal((await filters.list(zone, {}, PAGE)).total_count, 0);
});

storeTest("SPEC 8: page rules and overrides together stay within the edge's limit", async ({ store }) => {
  const { control, zone, call } = await world(store);
  const { overrides, pageRules } = control.previousWaf;
  const urls = (from: number) => Array.from({ length: 10 }, (_, n) => `older.test/${from}/${n}/*`);
  for (let n = 0; n < 30; n++) await overrides.create(call(), zone, { urls: urls(n) });
  const target = (value: string) => [{ target: "url" as const, constraint: { operator: "matches" as const, value } }];
  const on = (value: string) =>
    pageRules.create(call(), zone, { targets: target(value), actions: [{ id: "waf", value: "on" }], status: "active" });
  await on("older.test/a/*");
  await assert.rejects(on("older.test/b/*"), failing(10451));
  assert.equal((await pageRules.list(zone, {})).length, 1);
});

storeTest("deleting a zone deletes its slots, and a zone cannot use another zone's objects", async ({ store }) => {
  const { control, zone, call } = await world(store);
  const other = {
    id: (await control.zones.create(call(), { name: "other.test", account: { id: zone.account_id } })).id,
    account_id: zone.account_id,
  };
  await control.zoneSettings.edit(call(), zone.id, [{ id: "waf", value: "on", pointer: "" }]);
  const [rule] = await control.previousWaf.firewallRules.create(call(), zone, [{ action: "block", filter: { expression: "ssl" } }]);
  assert.deepEqual(Object.keys(await slots(store)).sort(), ["firewall_rules", "previous_waf"]);
  await assert.rejects(control.previousWaf.firewallRules.get(other, rule!.id), failing(10450));
  await assert.rejects(control.previousWaf.firewallRules.delete(call(), other, [rule!.id], true), failing(10450));
  await control.zones.delete(call(), zone.id);
  assert.deepEqual(await slots(store), {});
});

storeTest(
  "URLs stay as they were written, and the planes get them in the form of the paths that the zone's rules see",
  async ({ store }) => {
    const { control, zone, call } = await world(store);
    const { pageRules, rateLimits } = control.previousWaf;
    const written = "older.test//Ab%41/%2fx";
    const configurations = [{ target: "ip" as const, value: "203.0.113.9" }];
    const lockdown = await control.firewallTools.lockdowns.create(call(), zone, { urls: [written], configurations });
    const target = { target: "url" as const, constraint: { operator: "matches" as const, value: written } };
    await pageRules.create(call(), zone, { targets: [target], actions: [{ id: "disable_security" }], status: "active" });
    const limit = await rateLimits.create(call(), zone, {
      match: { request: { url: written } },
      threshold: 2,
      period: 10,
      action: { mode: "simulate", timeout: 60 },
    });
    assert.deepEqual([lockdown.urls, limit.match.request?.url], [[written], written]);
    const shown = async () => {
      const { zone_lockdown, rate_limits } = await slots(store);
      const texts = [...(zone_lockdown?.rules ?? []), ...(rate_limits?.rules ?? [])].map(({ expression }) => expression);
      return texts.map((text) => [...new Set(Array.from(text.matchAll(/r"(\/[^"]*)"/g), ([, path]) => path))]);
    };
    assert.deepEqual(await shown(), [["//Ab%41/%2fx", "/AbA/%2Fx"], ["/AbA/%2Fx"], ["/AbA/%2Fx"]]);
    for (const [value, path] of [
      [{ scope: "incoming", type: "rfc3986" }, "//AbA/%2Fx"],
      [{ scope: "none", type: "rfc3986" }, "//Ab%41/%2fx"],
    ] as const) {
      await control.zoneSettings.edit(call(), zone.id, [{ id: "url_normalization", value, pointer: "" }]);
      assert.deepEqual(await shown(), [[...new Set(["//Ab%41/%2fx", path])], [path], [path]]);
    }
  },
);
