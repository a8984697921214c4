import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";

const TEXT = "Café: card 4716461583322103, again 4716461583322103, write to jo@shop.test";
const ZONE = { id: "a".repeat(32), account_id: "d".repeat(32) };

const isRefused = (source: RegExp) => (error: unknown) => error instanceof PlatformError && source.test(error.source ?? "");

storeTest("every detector scans the text, and the result contains none of it", async ({ store }) => {
  const { control } = await controlOver(store);
  const result = await control.sensitiveData.scan(ZONE, { text: TEXT });
  assert.deepEqual(
    result.findings.map(({ detector, count, enabled, offset }) => [detector, count, enabled, offset]),
    [
      ["fin.card_visa", 2, true, Buffer.byteLength("Café: card ")],
      ["pii.email", 1, false, Buffer.byteLength("Café: card 4716461583322103, again 4716461583322103, write to ")],
    ],
  );
  assert.deepEqual([result.bytes, result.scan_limited], [Buffer.byteLength(TEXT), false]);
  assert.doesNotMatch(JSON.stringify(result), /4716|shop/);

  const hash = result.findings[0]?.value_hash;
  assert.match(hash ?? "", /^[0-9a-f]{32}$/);
  const grouped = await control.sensitiveData.scan(ZONE, { text: "4716 4615-8332 2103 and 4716-4615-8332-2103" });
  assert.equal(grouped.findings[0]?.value_hash, hash, "however it is grouped");
  const other = await control.sensitiveData.scan({ ...ZONE, id: "b".repeat(32) }, { text: TEXT });
  assert.notEqual(other.findings[0]?.value_hash, hash, "each zone has a key of its own");
});

storeTest("a scan gives the JSON path and the confidence, like events", async ({ store }) => {
  const { scan } = (await controlOver(store)).control.sensitiveData;
  const card = "4716461583322103";
  const parts = ["Reisepass P1630837", "ssn 536904399", card];
  const sure = async (text: string, overrides = {}) => (await scan(ZONE, { text, overrides })).findings.map(({ confidence }) => confidence);
  assert.deepEqual(await sure(parts.join(", ")), ["high", "high", "high"], "three kinds near to each other");
  assert.deepEqual(await sure(parts.join(" ".repeat(300))), ["medium", "medium", "high"]);
  const financialOff = { categories: [{ category: "financial", enabled: false }] };
  assert.deepEqual(await sure(parts.join(", "), financialOff), ["medium", "medium", "high"], "a kind that is off confirms nothing");

  const places = async (text: string) => (await scan(ZONE, { text })).findings.map(({ json_path }) => json_path);
  assert.deepEqual(await places(JSON.stringify({ users: [{}, { card }] })), ["$.users[1].card"]);
  assert.deepEqual(await places(JSON.stringify({ [card]: { iban: "DE89370400440532013000" } })), ['$["[masked]"]', '$["[masked]"].iban']);
  assert.deepEqual(await places(`card ${card}`), [undefined]);
});

storeTest("overrides decide which detectors are enabled, and are refused if no rule could have them", async ({ store }) => {
  const { scan } = (await controlOver(store)).control.sensitiveData;
  const overrides = { enabled: false, categories: [{ category: "contact", enabled: true }] };
  assert.deepEqual(
    (await scan(ZONE, { text: TEXT, overrides })).findings.map(({ enabled }) => enabled),
    [false, true],
  );
  for (const wrong of [{ action: "block" }, { categories: [{ category: "nonsense", enabled: true }] }, { rules: [{ id: "0" }] }])
    await assert.rejects(scan(ZONE, { text: TEXT, overrides: wrong }), isRefused(/^\/overrides/), JSON.stringify(wrong));
});

storeTest("a zone's allowed data and patterns reach the detector, and are deleted with the zone", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, account_id };
  const { allowed, patterns, scan } = control.sensitiveData;
  const entry = async () => (await rebuildSnapshot(store)).ops.find((op) => op.kind === "detection" && op.id === id)?.value;
  assert.equal(await entry(), undefined);

  const first = call();
  const place = await allowed.create(first, { zone }, { json_path: "$.orders[*].number", description: "order numbers" });
  assert.ok((first.rev ?? 0) > 0, "the answer waits for the detector");
  const staff = await patterns.create(call(), { zone }, { name: "Staff number", pattern: "EMP-\\d{6}", tags: ["staff"] });
  assert.deepEqual([staff.validator, staff.context, staff.enabled], ["none", [], true]);
  assert.deepEqual(await entry(), {
    allowed: [{ id: place.id, json_path: "$.orders[*].number" }],
    patterns: [{ id: staff.id, name: "Staff number", pattern: "EMP-\\d{6}", context: [], validator: "none", tags: ["staff"] }],
  });
  const { findings } = await scan(zone, { text: "EMP-004711 and EMP-12" });
  assert.deepEqual(
    findings.map(({ rule_id, categories, count, enabled }) => [rule_id, categories, count, enabled]),
    [[staff.id, ["custom", "staff"], 1, true]],
  );
  const changed = await patterns.update(call(), { zone }, staff.id, { enabled: false });
  assert.deepEqual([changed.enabled, changed.pattern], [false, "EMP-\\d{6}"]);
  assert.equal((await patterns.list({ zone })).length, 1);
  await allowed.delete(call(), { zone }, place.id);
  const known = (await entry()) as DetectionEntry;
  assert.deepEqual(
    known.patterns.map((pattern) => pattern.enabled),
    [false],
    "an override may switch it on",
  );
  await assert.rejects(allowed.get({ zone }, place.id), (error) => error instanceof PlatformError && error.errorName === "not_found");

  await patterns.update(call(), { zone }, staff.id, { enabled: true });
  const removal = call();
  await control.zones.delete(removal, id);
  const changes = (await store.changesSince((removal.rev ?? 0) - 1, 1))?.[0]?.changes ?? [];
  assert.deepEqual(
    changes.filter(({ kind }) => kind === "detection"),
    [{ kind: "detection", id, value: null }],
  );
});

storeTest("overrides turn custom patterns on and off by rule, tag and ruleset, in a scan and in rules", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const { patterns, scan } = control.sensitiveData;
  const zone = { id, account_id };
  const staff = await patterns.create(call(), { zone }, { name: "Staff", pattern: "EMP-\\d{6}", tags: ["staff"] });
  const order = await patterns.create(call(), { account_id }, { name: "Order", pattern: "ORD-\\d{4}", enabled: false });
  const enabled = async (overrides: Record<string, unknown>) =>
    (await scan(zone, { text: "EMP-004711 ORD-0815", overrides })).findings.map((finding) => finding.enabled);
  assert.deepEqual(await enabled({}), [true, false]);
  assert.deepEqual(await enabled({ enabled: false, rules: [{ id: order.id, enabled: true }] }), [false, true]);
  assert.deepEqual(await enabled({ categories: [{ category: "staff", enabled: false }] }), [false, false]);
  assert.deepEqual(await enabled({ categories: [{ category: "custom", enabled: true }] }), [true, true]);

  const scope = { level: "zone", account_id, zone_id: id, plan: "free", actor: call().actor } as const;
  const deploy = (overrides: object) =>
    control.rulesets.putEntryPoint(call(), scope, "http_response_firewall_managed", {
      rules: [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID, overrides } }],
    });
  await deploy({ categories: [{ category: "staff", enabled: false }], rules: [{ id: order.id, enabled: true }] });
  const isRulesetError = (error: unknown) => error instanceof PlatformError && error.errorName === "ruleset_invalid";
  await assert.rejects(deploy({ rules: [{ id: "f".repeat(32), enabled: false }] }), isRulesetError);
  await assert.rejects(deploy({ categories: [{ category: "nobody", enabled: false }] }), isRulesetError);
  await assert.rejects(deploy({ rules: [{ id: staff.id, action: "block" }] }), isRulesetError, "the action is always log");
});

storeTest("IDs and times are set by the server, and those in a body are ignored", async ({ store }) => {
  const clock = fixedClock("2026-03-04T05:06:07Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, account_id };
  const foreign = { id: "0,+*", created_on: "1999-01-01T00:00:00Z", colour: "red" };
  const { allowed, patterns } = control.sensitiveData;
  const pattern = await patterns.create(call(), { zone }, { ...foreign, name: "Staff", pattern: "EMP-\\d{6}" });
  assert.match(pattern.id, /^[0-9a-f]{32}$/);
  assert.equal(Date.parse(pattern.created_on), clock.nowMs());
  await patterns.update(call(), { zone }, pattern.id, { ...foreign, name: "Staff number" });
  const place = await allowed.create(call(), { zone }, { ...foreign, path: "/shop/*" });
  const kept = [await patterns.get({ zone }, pattern.id), await allowed.get({ zone }, place.id)];
  assert.deepEqual(
    kept.map((object) => [object.id, object.created_on, "colour" in object]),
    [pattern, place].map((object) => [object.id, pattern.created_on, false]),
  );
  const entry = (await rebuildSnapshot(store)).ops.find((op) => op.kind === "detection")?.value as DetectionEntry;
  assert.deepEqual([entry.patterns[0]?.id, entry.allowed[0]?.id], [pattern.id, place.id]);
});

storeTest("invalid patterns are refused with the position of the error", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const create = (pattern: string) => control.sensitiveData.patterns.create(call(), { zone: { id, account_id } }, { name: "x", pattern });
  for (const [pattern, message] of [
    ["EMP-(", /at character 5\)/],
    ["[a-z]+@x", /must begin with/],
    ["ab\\d+", /must begin with/],
    ["EMP-(?=x)", /look/i],
    ["EMP-(\\w{1,900}){900}", /too large/],
  ] as const)
    await assert.rejects(
      create(pattern),
      (error) => error instanceof PlatformError && error.source === "/pattern" && message.test(error.message),
      pattern,
    );
  await assert.rejects(
    control.sensitiveData.allowed.create(call(), { zone: { id, account_id } }, { description: "all of it" }),
    isRefused(/^\/$/),
  );
  for (const wrong of [
    { json_path: "$..card" },
    { json_path: "$.a[?(@.b)]" },
    { path: "/shop?page=1" },
    { path: "/shop", rule_id: "f".repeat(32) },
  ])
    await assert.rejects(
      control.sensitiveData.allowed.create(call(), { zone: { id, account_id } }, wrong),
      isRefused(new RegExp(`^/${Object.keys(wrong).at(-1)}$`)),
      JSON.stringify(wrong),
    );
  assert.deepEqual(await control.sensitiveData.patterns.list({ zone: { id, account_id } }), []);
});

storeTest("allowed data can be edited, but not so that it matches nothing or everything", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id: zoneId } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const { allowed } = control.sensitiveData;
  const owner = { zone: { id: zoneId, account_id } };
  const { id, created_on } = await allowed.create(call(), owner, { path: "/shop", description: "the shop" });
  const entry = async () =>
    (await rebuildSnapshot(store)).ops.find((op) => op.kind === "detection" && op.id === zoneId)?.value as DetectionEntry | undefined;
  const first = call();
  const changed = await allowed.update(first, owner, id, { path: "/shop/*", json_path: "$.order" });
  assert.ok((first.rev ?? 0) > 0, "the answer waits for the detector");
  assert.deepEqual([changed.path, changed.description, changed.created_on], ["/shop/*", "the shop", created_on]);
  assert.deepEqual((await entry())?.allowed, [{ id, json_path: "$.order", path: "/shop/*" }]);
  await allowed.update(call(), owner, id, { path: null, description: null });
  const { modified_on, ...kept } = await allowed.get(owner, id);
  assert.deepEqual(kept, { id, json_path: "$.order", created_on });
  assert.ok(modified_on > created_on);
  await assert.rejects(allowed.update(call(), owner, id, { json_path: null }), isRefused(/^\/$/));
  await assert.rejects(allowed.update(call(), owner, id, { path: "/a?b" }), isRefused(/^\/path$/));
  await assert.rejects(allowed.update(call(), owner, "f".repeat(32), { path: "/a" }), /./);
  const other = { zone: { id: "e".repeat(32), account_id } };
  await assert.rejects(allowed.update(call(), other, id, { path: "/a" }), /./, "of another zone");
  assert.deepEqual((await entry())?.allowed, [{ id, json_path: "$.order" }]);
});

storeTest("an account's pattern applies to each of its zones, beside the zones' own patterns", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { patterns, scan } = control.sensitiveData;
  const zones: { readonly id: string; readonly account_id: string }[] = [];
  for (const name of ["one.example", "two.example"])
    zones.push({ id: (await control.zones.create(call(), { name, account: { id: account_id } })).id, account_id });
  const first = call();
  const staff = await patterns.create(first, { account_id }, { name: "Staff number", pattern: "EMP-\\d{6}" });
  assert.ok((first.rev ?? 0) > 0, "the answer waits for the detector");
  await patterns.create(call(), { zone: zones[0]! }, { name: "Order", pattern: "ORD-\\d{4}" });
  const found = async (zone: { readonly id: string; readonly account_id: string }) =>
    (await scan(zone, { text: "EMP-004711 ORD-0815" })).findings.filter(({ enabled }) => enabled).map(({ description }) => description);
  assert.deepEqual(await Promise.all(zones.map(found)), [["Staff number", "Order"], ["Staff number"]]);
  assert.deepEqual(await found({ id: zones[1]!.id, account_id: "d".repeat(32) }), [], "another account's zones do not have it");
  const entries = (await rebuildSnapshot(store)).ops.filter((op) => op.kind === "detection");
  assert.deepEqual(entries.map(({ id }) => id).sort(), [account_id, zones[0]!.id].sort());

  await assert.rejects(patterns.get({ zone: zones[0]! }, staff.id), /./, "it is the account's to change");
  await patterns.update(call(), { account_id }, staff.id, { enabled: false });
  assert.deepEqual(await found(zones[1]!), []);
  await patterns.delete(call(), { account_id }, staff.id);
  assert.deepEqual(await patterns.list({ account_id }), []);
  assert.deepEqual(
    (await rebuildSnapshot(store)).ops.filter((op) => op.kind === "detection").map(({ id }) => id),
    [zones[0]!.id],
  );
});
