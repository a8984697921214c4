import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import Cloudflare from "cloudflare";
import { systemCall } from "#control/call.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { failing } from "../support/vendor-client.ts";

// The vendor's own TypeScript client on notifications, over real HTTP.
const clock = fixedClock("2026-01-15T10:00:00Z");
let server: ApiServer;
let client: Cloudflare;
let account_id: string;

before(async () => {
  server = await startApi({ clock });
  account_id = server.account_id;
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

/** A webhook's receiver. */
async function receiver(t: TestContext) {
  const bodies: { text: string; data: Record<string, unknown> }[] = [];
  const hook = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (part: string) => (body += part));
    req.on("end", () => {
      bodies.push(JSON.parse(body));
      res.end();
    });
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  t.after(() => new Promise((resolve) => hook.close(resolve)));
  return { bodies, url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/` };
}

test("alerting: webhooks, policies, their tests, history and silences", async (t) => {
  const { url, bodies } = await receiver(t);
  const { alerting } = client;
  const types = await alerting.availableAlerts.list({ account_id });
  assert.ok(Object.values(types ?? {}).some((rows) => rows.some(({ type }) => type === "clickhouse_alert_fw_anomaly")));
  const eligible = await alerting.destinations.eligible.get({ account_id });
  assert.deepEqual(eligible?.["webhooks"], [{ type: "webhook", eligible: true, ready: true }]);
  assert.deepEqual((await alerting.destinations.pagerduty.get({ account_id })).result, []);

  const { id: webhook = "" } = await alerting.destinations.webhooks.create({ account_id, name: "hook", url });
  await alerting.destinations.webhooks.update(webhook, { account_id, name: "hook two", url, secret: "s" });
  const { id: policy = "" } = await alerting.policies.create({
    account_id,
    name: "Spikes",
    enabled: true,
    alert_type: "clickhouse_alert_fw_anomaly",
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  await alerting.policies.update(policy, { account_id, description: "for the night" });
  const shown = await alerting.policies.get(policy, { account_id });
  assert.deepEqual([shown.name, shown.description, shown.enabled], ["Spikes", "for the night", true]);
  await client.post(`/accounts/${account_id}/alerting/v3/policies/${policy}/test`, { body: {} });
  assert.match(bodies[0]?.text ?? "", /test of the notification policy Spikes/);
  const history: string[] = [];
  for await (const entry of alerting.history.list({ account_id })) history.push(`${entry.mechanism_type} ${entry.mechanism}`);
  assert.deepEqual(history, [`webhook ${webhook}`]);
  const since: string[] = [];
  for await (const entry of alerting.history.list({ account_id, since: "2999-01-01T00:00:00Z" })) since.push(entry.id ?? "");
  assert.deepEqual(since, []);

  await alerting.silences.create({
    account_id,
    body: [{ policy_id: policy, start_time: "2030-01-01T00:00:00Z", end_time: "2030-01-02T00:00:00Z" }],
  });
  const silences = [];
  for await (const silence of alerting.silences.list({ account_id })) silences.push(silence);
  assert.deepEqual(
    silences.map(({ policy_id, end_time }) => [policy_id, end_time]),
    [[policy, "2030-01-02T00:00:00.000Z"]],
  );
  await alerting.silences.delete(silences[0]?.id ?? "", { account_id });

  await assert.rejects(alerting.destinations.webhooks.delete(webhook, { account_id }), failing(409, 10603));
  await alerting.policies.delete(policy, { account_id });
  await alerting.destinations.webhooks.delete(webhook, { account_id });
  await assert.rejects(alerting.policies.get(policy, { account_id }), failing(404, 10601));
  await assert.rejects(
    alerting.destinations.webhooks.create({ account_id, name: "hook", url: "http://example.com/" }),
    failing(400, 10602),
  );
});

test("SPEC 6: alerting: a spike in security events at the edge reaches the webhook once", async (t) => {
  const { url, bodies } = await receiver(t);
  const { alerting } = client;
  const { id: zone_id } = await client.zones.create({ account: { id: account_id }, name: "spike.test" });
  await client.zones.edit({ zone_id, plan: { id: "enterprise" } } as never);
  const { id: webhook = "" } = await alerting.destinations.webhooks.create({ account_id, name: "hook", url });
  await alerting.policies.create({
    account_id,
    name: "Leaks",
    enabled: true,
    alert_type: "clickhouse_alert_fw_ent_anomaly",
    filters: { zones: [zone_id], services: ["Data Loss Protection"] },
    mechanisms: { webhooks: [{ id: webhook }] },
  });
  const database = openEventDatabase(server.eventsPath);
  t.after(() => database.close());
  const happen = (count: number, agoMs: number): void =>
    database.insert([
      packed(
        "security_events",
        Array.from({ length: count }, (_, i) => testSecurityRow({ id: `${i}`, account_id, zone_id, at_ms: clock.nowMs() - agoMs + i })),
      ),
    ]);
  const look = async (): Promise<number> => {
    const { told } = await server.control.notifications.watch.look(systemCall("test"));
    await server.control.notifications.deliveries.sendDue();
    return told;
  };
  // Usual traffic: thirty in each of the five minutes of yesterday's hour, and of the hour before.
  for (let minute = 0; minute < 60; minute += 5) {
    happen(30, 86_400_000 - minute * 60_000);
    happen(30, 3_600_000 - minute * 60_000);
  }
  clock.advance(120_000);
  assert.equal(await look(), 0);
  happen(150, 60_000);
  clock.advance(60_000);
  assert.equal(await look(), 0, "unusual, but few");
  happen(400, 60_000);
  clock.advance(60_000);
  const told = [await look(), await look()];
  happen(300, 30_000);
  clock.advance(60_000);
  told.push(await look());
  assert.deepEqual(told, [1, 0, 0]);
  assert.equal(bodies.length, 1);
  assert.match(bodies[0]?.text ?? "", /^Security events of Data Loss Protection in spike\.test rose to 5\d\d /);
  assert.equal(bodies[0]?.data["zone_id"], zone_id);
  clock.advance(3_600_000 * 5);
  assert.equal(await look(), 0);
  happen(5_000, 120_000);
  assert.equal(await look(), 1, "the next spike");
  assert.equal(bodies.length, 2);
});

test("alerting: errors of origins and errors of the edge each reach the webhook of their own policy", async (t) => {
  const { url, bodies } = await receiver(t);
  const { alerting } = client;
  const { id: zone_id } = await client.zones.create({ account: { id: account_id }, name: "errors.test" });
  const { id: webhook = "" } = await alerting.destinations.webhooks.create({ account_id, name: "errors", url });
  const products = await alerting.availableAlerts.list({ account_id });
  const types = Object.values(products as Record<string, { type: string }[]>).flatMap((listed) => listed.map(({ type }) => type));
  for (const alert_type of ["http_alert_origin_error", "http_alert_edge_error"] as const) {
    assert.ok(types.includes(alert_type));
    const policy = { account_id, name: alert_type, enabled: true, alert_type, mechanisms: { webhooks: [{ id: webhook }] } };
    await alerting.policies.create({ ...policy, filters: { zones: [zone_id], slo: ["99.9"] } });
    await assert.rejects(alerting.policies.create({ ...policy, filters: { slo: ["all"] } }), failing(400, 10602));
  }
  const database = openEventDatabase(server.eventsPath);
  t.after(() => database.close());
  const happen = (count: number, status: number, edge_error: string): void => {
    const at_ms = clock.nowMs() - 30_000;
    database.insert([
      packed(
        "requests",
        Array.from({ length: count }, (_, i) => testRequestRow({ account_id, zone_id, at_ms: at_ms + i, status, edge_error })),
      ),
    ]);
  };
  const look = async (): Promise<number> => {
    clock.advance(60_000);
    const { told } = await server.control.notifications.watch.look(systemCall("test"));
    await server.control.notifications.deliveries.sendDue();
    return told;
  };
  clock.advance(86_400_000);
  happen(5_000, 200, "");
  happen(500, 404, "");
  assert.equal(await look(), 0);
  happen(300, 503, "");
  assert.equal(await look(), 1);
  happen(250, 522, "522");
  assert.deepEqual([await look(), await look()], [1, 0]);
  assert.deepEqual(
    bodies.map(({ text }) => /^(.*) in errors\.test rose to (\d+) /.exec(text)?.slice(1)),
    [
      ["Origin errors", "300"],
      ["Edge errors", "250"],
    ],
  );
});

test("alerting: the account sees the error of its failing receiver, no log shows it, and the client does not retry the test", async (t) => {
  const retrying = new Cloudflare({ apiToken: server.token, baseURL: server.url });
  const { alerting } = retrying;
  let received = 0;
  const hook = createServer((_req, res) => {
    received += 1;
    res.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  t.after(() => new Promise((resolve) => hook.close(resolve)));
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/path-canary`;
  const { id = "" } = await alerting.destinations.webhooks.create({ account_id, name: "name-canary", url, secret: "secret-canary" });
  const policy = { account_id, name: "policy-canary", enabled: true, alert_type: "clickhouse_alert_fw_anomaly" } as const;
  const { id: policyId = "" } = await alerting.policies.create({ ...policy, mechanisms: { webhooks: [{ id }] } });
  const test = retrying.post(`/accounts/${account_id}/alerting/v3/policies/${policyId}/test`, { body: {} });
  await assert.rejects(test, failing(502, 10604));
  assert.equal(received, 1);
  const log = server.logged.join("\n");
  assert.ok(log.includes("/policies/"), "requests are logged");
  assert.doesNotMatch(log, /canary|responded with status 500/);
});
