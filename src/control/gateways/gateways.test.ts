import assert from "node:assert/strict";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { PLAIN_GATEWAY } from "../../../test/support/plain-gateway.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("SPEC 2.9: a gateway is created without authentication, updated, listed and deleted", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { gateways } = control;
  const created = await gateways.create(call(), account_id, { id: "mine", ...PLAIN_GATEWAY });
  assert.deepEqual(
    [created.id, created.authentication, created.collect_logs, created.created_at],
    ["mine", false, true, created.modified_at],
  );
  await assert.rejects(gateways.create(call(), account_id, { id: "mine", ...PLAIN_GATEWAY }), failing(7001, "/id"));

  const write = call();
  const secured = await gateways.update(write, account_id, "mine", { ...PLAIN_GATEWAY, authentication: true, cache_ttl: 60 });
  assert.deepEqual([secured.authentication, secured.cache_ttl], [true, 60]);
  const [delta] = (await store.changesSince((write.rev ?? 0) - 1, 1)) ?? [];
  assert.deepEqual(delta?.changes, [
    {
      kind: "gateway",
      id: `${account_id}/mine`,
      value: {
        account_id,
        gateway_id: "mine",
        authentication: true,
        collect_logs: true,
        cache: { ttl_seconds: 60 },
        cache_epoch: secured.modified_at,
      },
    },
  ]);
  assert.equal(
    (await gateways.update(call(), account_id, "mine", { ...PLAIN_GATEWAY, collect_logs: false })).authentication,
    true,
    "leaving authentication out turned it off",
  );

  await gateways.create(call(), account_id, { id: "Other_100", ...PLAIN_GATEWAY });
  const ids = async (search?: string) => {
    const { items, total_count } = await gateways.list(account_id, search === undefined ? {} : { search }, { page: 1, per_page: 20 });
    return [...items.map(({ id }) => id).toSorted(), total_count];
  };
  assert.deepEqual(await ids(), ["Other_100", "mine", 2]);
  assert.deepEqual(await ids("r_1"), ["Other_100", 1]);
  assert.deepEqual(await ids("%"), [0]);
  assert.equal((await gateways.delete(call(), account_id, "mine")).id, "mine");
  await assert.rejects(gateways.get(account_id, "mine"), failing(7002));
  await assert.rejects(gateways.get("0".repeat(32), "Other_100"), failing(7002), "another account's gateway");
  await assert.rejects(gateways.delete(call(), account_id, "mine"), failing(7002));
  await assert.rejects(gateways.update(call(), account_id, "mine", PLAIN_GATEWAY), failing(7002));
});

storeTest("settings for protection that this version lacks are refused instead of ignored", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const body = { id: "mine", ...PLAIN_GATEWAY };
  await assert.rejects(
    control.gateways.create(call(), account_id, { ...body, guardrails: { prompt: { S1: "BLOCK" }, response: {} } } as typeof body),
    failing(7001, "/guardrails"),
  );
  await control.gateways.create(call(), account_id, { ...body, dlp: null } as typeof body);
});

storeTest("spend limits: every rule gets an ID and defaults, and the gateway gets the active rules", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const rules = [
    { id: "mine", limit: 5, limitType: "cost", window: 3600, technique: "fixed", metadata: { user: { mode: "partition" } } },
    { limit: 1, limitType: "cost", window: 60, provider: { mode: "filter", values: ["openai"] } },
    { id: "off", enabled: false, limit: 1, limitType: "cost", window: 60 },
  ] as const;
  const body = {
    id: "mine",
    ...PLAIN_GATEWAY,
    retry_max_attempts: 3,
    retry_backoff: "linear" as const,
    spend_limits: { enabled: true, rules: [...rules] },
  };
  const write = call();
  const created = await control.gateways.create(write, account_id, body as never);
  const [first, second] = created.spend_limits?.rules ?? [];
  assert.deepEqual([first?.id, first?.enabled, second?.technique], ["mine", true, "sliding"]);
  assert.match(second?.id ?? "", /^[0-9a-f]{8}$/);
  const [delta] = (await store.changesSince((write.rev ?? 0) - 1, 1)) ?? [];
  const entry = delta?.changes[0]?.value as GatewayEntry;
  assert.deepEqual(entry.retry, { max_attempts: 3, backoff: "linear" });
  assert.deepEqual(entry.spend_rules, [
    { id: "mine", limit: 5, window_seconds: 3600, technique: "fixed", metadata: [{ name: "user" }] },
    { id: second?.id, limit: 1, window_seconds: 60, technique: "sliding", provider: ["openai"], metadata: [] },
  ]);
  const kept = await control.gateways.update(call(), account_id, "mine", PLAIN_GATEWAY);
  assert.deepEqual(kept.spend_limits, created.spend_limits, "leaving them out keeps them");
  assert.equal((await control.gateways.update(call(), account_id, "mine", { ...PLAIN_GATEWAY, spend_limits: null })).spend_limits, null);
  const twice = { enabled: true, rules: [rules[0], rules[0]] };
  await assert.rejects(
    control.gateways.update(call(), account_id, "mine", { ...PLAIN_GATEWAY, spend_limits: twice } as never),
    failing(7001, "/spend_limits/rules"),
  );
});

storeTest("span endpoints: header values are encrypted, never shown, and kept if sent back redacted", async ({ store }) => {
  const { control, account_id, call, sealer } = await controlOver(store);
  const { gateways } = control;
  const url = "https://collector.example/v1/traces";
  const otel = [{ url, headers: { "X-Team": "canary-team" }, authorization: "Bearer canary-secret" }];
  const write = call();
  const created = await gateways.create(write, account_id, { id: "mine", ...PLAIN_GATEWAY, otel });
  const shown = [{ url, headers: { "x-team": "********" }, authorization: "********", content_type: "json" as const }];
  assert.deepEqual(created.otel, shown);
  const fieldsAfter = async ({ rev }: { readonly rev: number | null }): Promise<unknown> => {
    const [delta] = (await store.changesSince((rev ?? 0) - 1, 1)) ?? [];
    const entry = delta?.changes[0]?.value as GatewayEntry | undefined;
    const [endpoint] = entry?.otel ?? [];
    return endpoint && JSON.parse(sealer.open(endpoint.secret, `gateway-otel:${account_id}/mine`).toString());
  };
  assert.deepEqual(await fieldsAfter(write), { "x-team": "canary-team", authorization: "Bearer canary-secret" });
  const again = call();
  await gateways.update(again, account_id, "mine", { ...PLAIN_GATEWAY, otel: [{ ...shown[0], authorization: "Bearer other" }] as never });
  assert.deepEqual(await fieldsAfter(again), { "x-team": "canary-team", authorization: "Bearer other" });
  const rows = JSON.stringify([
    await store.read.selectFrom("gateways").selectAll().execute(),
    await store.read.selectFrom("changes").selectAll().execute(),
    await store.read.selectFrom("audit_log").selectAll().execute(),
  ]);
  assert.doesNotMatch(rows, /canary/);
  const updating = (body: object) => gateways.update(call(), account_id, "mine", { ...PLAIN_GATEWAY, ...body });
  const moved = { ...shown[0], url: "https://elsewhere.example/v1/traces" };
  await assert.rejects(updating({ otel: [moved] }), failing(7001, "/otel/0/headers/x-team"), "a secret goes to no other address");
  await assert.rejects(updating({ otel: [{ url: "ftp://x.example/" }] }), failing(7001, "/otel/0/url"));
  await assert.rejects(updating({ otel: [{ url: "https://user:pw@x.example/" }] }), failing(7001, "/otel/0/url"));
  await assert.rejects(updating({ otel: [{ url, headers: { host: "x" } }] }), failing(7001, "/otel/0/headers/host"));
  await assert.rejects(updating({ otel: [{ url, authorization: "a\r\nb: c" }] }), failing(7001, "/otel/0/authorization"));
  assert.deepEqual((await updating({})).otel?.length, 1, "leaving them out keeps them");
  assert.equal((await updating({ otel: null })).otel, null);
});
