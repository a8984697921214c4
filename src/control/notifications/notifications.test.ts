import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { SMTPServer } from "smtp-server";
import { fixedClock } from "#kernel/clock.ts";
import type { NotificationPolicyCreate } from "#model/events/notification.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { Value } from "typebox/value";
import { WebhookWrite } from "#model/events/notification.ts";
import { storeTest } from "../../../test/support/store.ts";
import { readWebhookUrl } from "#control/notifications/delivery/webhook-url.ts";

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A webhook's receiver; `status` may be changed. */
async function receiver(close: (end: () => Promise<void>) => void) {
  const state = { status: 204, received: [] as Received[] };
  const server = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (part: string) => (body += part));
    req.on("end", () => {
      state.received.push({ headers: req.headers, body });
      res.writeHead(state.status, { location: "/elsewhere" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  close(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { ...state, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

async function mailServer(close: (end: () => Promise<void>) => void) {
  const messages: { to: string[]; source: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, session, done) => {
      let source = "";
      stream.setEncoding("utf8").on("data", (part: string) => (source += part));
      stream.on("end", () => {
        messages.push({ to: session.envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  close(() => new Promise((resolve) => server.close(() => resolve())));
  return { messages, port: (server.server.address() as AddressInfo).port };
}

async function fixture(store: Store, smtpPort?: number) {
  const clock = fixedClock("2026-01-15T10:00:00Z");
  const over = await controlOver(store, {
    clock,
    webhookAllowed: (address) => address !== "169.254.169.254",
    ...(smtpPort === undefined
      ? {}
      : { mailServer: { host: "127.0.0.1", port: smtpPort, username: "", password: "", from: "alerts@edge.example" } }),
  });
  const { notifications } = over.control;
  const policy = (changes: Partial<NotificationPolicyCreate>): NotificationPolicyCreate => ({
    name: "Spikes",
    enabled: true,
    alert_type: "clickhouse_alert_fw_anomaly",
    mechanisms: {},
    ...changes,
  });
  return { ...over, clock, notifications, policy };
}

storeTest("a webhook gets a signed message, and its result is shown without the secret", async ({ store }) => {
  const ends: (() => Promise<void>)[] = [];
  try {
    const hook = await receiver((end) => ends.push(end));
    const { notifications, account_id, call, policy } = await fixture(store);
    const secret = "whsec-canary-0123456789";
    const { id } = await notifications.webhooks.create(call(), account_id, { name: "hook", url: hook.url, secret });
    const made = await notifications.policies.create(call(), account_id, policy({ mechanisms: { webhooks: [{ id }] } }));
    await notifications.policies.test(call(), account_id, made.id);
    const [message] = hook.state.received;
    assert.ok(message);
    const [, seconds = "", signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(message.headers["svc-webhook-signature"])) ?? [];
    assert.equal(signature, createHmac("sha256", secret).update(`${seconds}.${message.body}`).digest("hex"));
    assert.equal(message.headers["svc-webhook-auth"], secret);
    const body = JSON.parse(message.body);
    assert.deepEqual([body.policy_id, body.account_id, body.alert_type], [made.id, account_id, "clickhouse_alert_fw_anomaly"]);
    assert.equal(body.ts, Date.UTC(2026, 0, 15, 10) / 1000);
    assert.equal(message.headers["svc-webhook-id"], body.alert_correlation_id);
    const shown = await notifications.webhooks.get(call(), account_id, id);
    assert.ok(shown.last_success !== undefined && shown.last_failure === undefined);
    const { items } = await notifications.history.list(account_id, {}, { page: 1, per_page: 25 });
    assert.deepEqual(
      items.map(({ status, mechanism, mechanism_type }) => [status, mechanism, mechanism_type]),
      [["sent", id, "webhook"]],
    );
    const rows = await store.read.selectFrom("notification_webhooks").selectAll().execute();
    assert.ok(!JSON.stringify([shown, items, rows]).includes(secret));
    assert.ok(!JSON.stringify(rows).includes(new URL(hook.url).host), "the URL is sealed");
    // A row of an older release.
    await store.write(({ db }) => db.updateTable("notification_webhooks").set({ url: hook.url }).where("id", "=", id).execute());
    assert.equal((await notifications.webhooks.get(call(), account_id, id)).url, shown.url);
    assert.equal(await notifications.webhooks.sealOlder(), 1);
    assert.equal(await notifications.webhooks.sealOlder(), 0);
    const [sealed] = await store.read.selectFrom("notification_webhooks").select("url").where("id", "=", id).execute();
    assert.equal(sealed?.url.includes(new URL(hook.url).pathname), false, "an older row is sealed later");
    assert.equal((await notifications.webhooks.get(call(), account_id, id)).url, shown.url);
    await assert.rejects(notifications.webhooks.delete(call(), account_id, id), failing(10603));
    await notifications.policies.delete(call(), account_id, made.id);
    await notifications.webhooks.delete(call(), account_id, id);
  } finally {
    for (const end of ends) await end();
  }
});

storeTest("the path of a webhook's URL is shown to those who may change it, and is not in the audit log", async ({ store }) => {
  const { notifications, account_id, call } = await fixture(store);
  const url = "http://127.0.0.1:9/services/T0/B0/canary-0123456789?key=canary-0123456789";
  const { id } = await notifications.webhooks.create(call(), account_id, { name: "hook", url });
  await notifications.webhooks.update(call(), account_id, id, { name: "renamed", url });
  const reader = { ...call(), actor: { ...call().actor, type: "token" as const } };
  assert.equal((await notifications.webhooks.get(call(), account_id, id)).url, url);
  assert.equal((await notifications.webhooks.get(reader, account_id, id)).url, "http://127.0.0.1:9/********");
  assert.ok(!JSON.stringify(await notifications.webhooks.list(reader, account_id)).includes("canary"));
  await notifications.webhooks.delete(call(), account_id, id);
  assert.ok(!JSON.stringify(await store.read.selectFrom("audit_log").selectAll().execute()).includes("canary"));
});

storeTest("a failed message is retried with growing delays and ends as failed, and redirects are not followed", async ({ store }) => {
  const ends: (() => Promise<void>)[] = [];
  try {
    const hook = await receiver((end) => ends.push(end));
    hook.state.status = 302;
    const { notifications, account_id, call, policy, clock } = await fixture(store);
    const { id } = await notifications.webhooks.create(call(), account_id, { name: "hook", url: hook.url });
    const made = await notifications.policies.create(call(), account_id, policy({ mechanisms: { webhooks: [{ id }] } }));
    await assert.rejects(notifications.policies.test(call(), account_id, made.id), failing(10604, undefined, /status 302/));
    const [entry] = (await notifications.history.list(account_id, {}, { page: 1, per_page: 25 })).items;
    assert.deepEqual([entry?.status, entry?.sent], ["pending", null]);
    assert.deepEqual(await notifications.deliveries.sendDue(), { sent: 0, failures: [] }, "it is not due yet");
    clock.advance(10_000);
    assert.equal((await notifications.deliveries.sendDue()).failures.length, 1);
    hook.state.status = 200;
    clock.advance(60_000);
    assert.equal((await notifications.deliveries.sendDue()).sent, 1);
    assert.equal(new Set(hook.state.received.map(({ headers }) => headers["svc-webhook-id"])).size, 1, "each attempt has the same id");
    hook.state.status = 500;
    await assert.rejects(notifications.policies.test(call(), account_id, made.id), failing(10604));
    for (let n = 0; n < 8; n++) {
      clock.advance(7_200_000);
      await notifications.deliveries.sendDue();
    }
    const { items } = await notifications.history.list(account_id, {}, { page: 1, per_page: 25 });
    assert.deepEqual(
      items.map(({ status }) => status),
      ["failed", "sent"],
    );
    assert.equal(hook.state.received.length, 3 + 6);
  } finally {
    for (const end of ends) await end();
  }
});

storeTest("e-mail goes through the operator's server to exactly one address", async ({ store }) => {
  const ends: (() => Promise<void>)[] = [];
  try {
    const mail = await mailServer((end) => ends.push(end));
    const { notifications, account_id, call, policy } = await fixture(store, mail.port);
    assert.equal(notifications.eligible()["email"]?.[0]?.ready, true);
    const made = await notifications.policies.create(
      call(),
      account_id,
      policy({ name: "Spikes\r\nBcc: all@example.com", mechanisms: { email: [{ id: "ops@example.com" }] } }),
    );
    await notifications.policies.test(call(), account_id, made.id);
    assert.deepEqual(
      mail.messages.map(({ to }) => to),
      [["ops@example.com"]],
    );
    const [message] = mail.messages;
    assert.match(message?.source ?? "", /^Subject: Test of the notification policy Spikes/m);
    const [head = ""] = message?.source.split("\r\n\r\n") ?? [];
    assert.doesNotMatch(head, /^Bcc:/m);
    for (const id of ["a@example.com,b@example.com", "no address", "<a@example.com>", "a@b@c", "a@[10.0.0.5]"])
      await assert.rejects(
        notifications.policies.create(call(), account_id, policy({ mechanisms: { email: [{ id }] } })),
        failing(10602, "/mechanisms/email"),
        id,
      );
  } finally {
    for (const end of ends) await end();
  }
});

storeTest("invalid policies are refused with a pointer to the field", async ({ store }) => {
  const { notifications, account_id, call, policy, control } = await fixture(store);
  const { id } = await notifications.webhooks.create(call(), account_id, { name: "hook", url: "https://example.com/" });
  const zone = await control.zones.create(call(), { name: "free.example", account: { id: account_id } });
  const webhooks = { webhooks: [{ id }] };
  const bad: readonly (readonly [changes: Partial<NotificationPolicyCreate>, source: string])[] = [
    [{ alert_type: "billing_usage_alert" }, "/alert_type"],
    [{ alert_interval: "soon" }, "/alert_interval"],
    [{ filters: { services: ["dlp"] } }, "/filters/services"],
    [{ filters: { zones: [] } }, "/filters/zones"],
    [{ filters: { zones: ["f".repeat(32)] } }, "/filters/zones"],
    [{ alert_type: "clickhouse_alert_fw_ent_anomaly", filters: { zones: [zone.id] } }, "/filters/zones"],
    [{ alert_type: "clickhouse_alert_fw_ent_anomaly", filters: { services: ["teapots"] } }, "/filters/services"],
    [{ mechanisms: {} }, "/mechanisms"],
    [{ mechanisms: { email: [{ id: "ops@example.com" }] } }, "/mechanisms/email"],
    [{ mechanisms: { pagerduty: [{ id: "p" }] } }, "/mechanisms/pagerduty"],
    [{ mechanisms: { webhooks: [{ id: "f".repeat(32) }] } }, "/mechanisms/webhooks"],
    [{ mechanisms: { webhooks: [{ id }, { id }] } }, "/mechanisms/webhooks"],
  ];
  for (const [changes, source] of bad)
    await assert.rejects(
      notifications.policies.create(call(), account_id, policy({ mechanisms: webhooks, ...changes })),
      failing(10602, source),
      JSON.stringify(changes),
    );
  assert.deepEqual(await notifications.policies.list(account_id), []);
});

test("webhooks on the Internet must use TLS, and private addresses need the operator's permission", () => {
  const anywhere = () => true;
  const nowhere = () => false;
  for (const url of ["https://example.com/a?b=1", "http://127.0.0.1:9000/", "http://[::1]/", "https://10.0.0.1/", "http://localhost/"])
    assert.equal(readWebhookUrl(url, anywhere).href, url);
  for (const url of [
    "",
    "example.com",
    "ftp://example.com/",
    "https://user:pass@example.com/",
    "http://example.com/",
    "http://8.8.8.8/",
    "file:///etc/passwd",
  ])
    assert.throws(() => readWebhookUrl(url, anywhere), failing(10602, "/url"), url);
  // Every spelling of an address is the address.
  for (const url of [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/latest",
  ])
    assert.throws(() => readWebhookUrl(url, nowhere), failing(10602, "/url"), url);
});

storeTest("a name that resolves to this machine is refused at connect time", async ({ store }) => {
  const over = await controlOver(store, { webhookAllowed: (address) => !address.startsWith("127.") && address !== "::1" });
  const { notifications } = over.control;
  const { id } = await notifications.webhooks.create(over.call(), over.account_id, { name: "hook", url: "https://localhost:8443/" });
  const made = await notifications.policies.create(over.call(), over.account_id, {
    name: "p",
    enabled: true,
    alert_type: "clickhouse_alert_fw_anomaly",
    mechanisms: { webhooks: [{ id }] },
  });
  await assert.rejects(
    notifications.policies.test(over.call(), over.account_id, made.id),
    failing(10604, undefined, /: its name does not resolve to an address that this server may connect to$/),
  );
});

test("a secret is sent unchanged in its header field", () => {
  const taken = (secret: string): boolean => Value.Check(WebhookWrite, { name: "hook", url: "https://example.com/", secret });
  for (const secret of ["", "x", "whsec 1!~", "a".repeat(512)]) assert.ok(taken(secret), secret);
  for (const secret of [" ", "x ", " x", "x\r\nhost: y", "x\ty", "schlüssel", "€", "a".repeat(513)])
    assert.ok(!taken(secret), JSON.stringify(secret));
});
