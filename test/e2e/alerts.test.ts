import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { apiCaller, type ApiCall, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// Minutes pass between the lives of a server, whose jobs run soon after each start: what it is asked of, its events, spikes
// and mail are its own.

const SECRET = "whsec-of-the-walk";
const MINUTE_MS = 60_000;
const SPIKE = 250;
const STEADY = 20;

interface Told {
  readonly by: "webhook" | "email";
  /** Of webhooks: whether the signature is right, where it came to, and what it says. */
  readonly signed?: boolean;
  readonly path?: string;
  readonly message?: { readonly text: string; readonly policy_id: string; readonly data: Readonly<Record<string, unknown>> };
  /** Of mail. */
  readonly to?: readonly string[];
  readonly source?: string;
}

const told: Told[] = [];
const toldAt = (path: string): readonly Told[] => told.filter((one) => one.path === path);
const mailed = (): readonly Told[] => told.filter(({ by }) => by === "email");
const receiver = spawn(process.execPath, [join(import.meta.dirname, "../support/alert-receiver.ts"), SECRET], {
  stdio: ["ignore", "pipe", "inherit"],
});
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
/** Offset of the server's clock, and its value at the end of the last run. */
let shiftMs = 0;
let endedMs = Date.now();
let dataDir = "";
let ports = { http: 0, smtp: 0 };
let token = "";
let selvedge: Selvedge | undefined;
let call: ApiCall;
const account = (): string => selvedge?.ready.account_id ?? "";

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "selvedge-alerts-"));
  const lines = createInterface({ input: receiver.stdout });
  ports = JSON.parse(String((await once(lines, "line"))[0]));
  lines.on("line", (line) => told.push(JSON.parse(line)));
});

after(async () => {
  await selvedge?.stop().catch(() => undefined);
  agent.destroy();
  receiver.kill();
  await rm(dataDir, { recursive: true, force: true });
});

/** Ends the server and starts it again when so many minutes have passed for it. */
async function liveAfter(minutes: number): Promise<void> {
  await end();
  shiftMs = endedMs + minutes * MINUTE_MS - Date.now();
  selvedge = await startSelvedge({
    dataDir,
    env: {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/shifted-clock.ts")}`,
      TEST_CLOCK_SHIFT_MS: String(shiftMs),
      SELVEDGE_NOTIFICATIONS_SMTP_HOST: "127.0.0.1",
      SELVEDGE_NOTIFICATIONS_SMTP_PORT: String(ports.smtp),
      SELVEDGE_NOTIFICATIONS_EMAIL_FROM: "edge@example.net",
    },
  });
  token = selvedge.ready.token ?? token;
  call = apiCaller(selvedge.ready, token);
}

async function end(): Promise<void> {
  await selvedge?.stop();
  endedMs = Date.now() + shiftMs;
}

/** So many requests of visitors that a rule of the zone refuses. */
async function attack(zone: string, count: number): Promise<void> {
  const { hostname, port } = new URL(selvedge?.ready.http ?? "");
  const ask = async (): Promise<number> => {
    const req = get({ agent, hostname, port, path: "/attack", headers: { host: `www.${zone}` } });
    const [res] = await once(req, "response");
    await once(res.resume(), "end");
    return res.statusCode;
  };
  const statuses = await Promise.all(Array.from({ length: count }, ask));
  assert.deepEqual([...new Set(statuses)], [403]);
}

/** A zone with a rule, and a policy that tells of it; gives the policy's id. */
async function watched(name: string, alert_interval: string, email: readonly string[] = []): Promise<string> {
  const { id: zone } = await succeed(call("POST", "/zones", { name, account: { id: account() } }));
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const rules = [{ action: "block", expression: 'starts_with(http.request.uri.path, "/attack")' }];
  await succeed(call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));
  const alerting = `/accounts/${account()}/alerting/v3`;
  const hook = { name, url: `http://127.0.0.1:${ports.http}/${name}`, secret: SECRET };
  const { id: webhook } = await succeed(call("POST", `${alerting}/destinations/webhooks`, hook));
  const policy = {
    ...{ name, enabled: true, alert_type: "clickhouse_alert_fw_anomaly", alert_interval, filters: { zones: [zone] } },
    mechanisms: { webhooks: [{ id: webhook }], email: email.map((id) => ({ id })) },
  };
  return (await succeed(call("POST", `${alerting}/policies`, policy))).id;
}

test("SPEC 6: a spike sends one signed webhook and one mail, and no more until the interval ends", async () => {
  // The other zones tell that a look has taken place. Each attack is the last of its life, so that its age at the next
  // look does not depend on how busy the machine is.
  await liveAfter(0);
  const policy = await watched("shop.example", "30m", ["ops@example.com"]);
  for (const other of ["first.example", "second.example", "hasty.example"]) await watched(other, "1m");
  await attack("shop.example", STEADY);
  await attack("first.example", SPIKE);

  await liveAfter(2.5);
  await eventually(() => toldAt("/first.example").length === 1);
  assert.deepEqual([toldAt("/shop.example").length, mailed().length], [0, 0], "what is steady is no spike");
  for (const zone of ["shop.example", "hasty.example"]) await attack(zone, SPIKE);

  await liveAfter(2.5);
  await eventually(() => toldAt("/shop.example").length > 0 && mailed().length > 0 && toldAt("/hasty.example").length > 0);
  await attack("second.example", SPIKE);

  // Both spikes are over, and the next ones come.
  await liveAfter(4);
  await eventually(() => toldAt("/second.example").length === 1);
  for (const zone of ["shop.example", "hasty.example"]) await attack(zone, 2 * SPIKE);

  await liveAfter(2.5);
  await eventually(() => toldAt("/hasty.example").length === 2);

  // Data stored by the last check exists, sent or not.
  await liveAfter(1);
  const history = await succeed(call("GET", `/accounts/${account()}/alerting/v3/history`));

  const [hook, ...more] = toldAt("/shop.example");
  assert.deepEqual(more, [], "one spike, and one in its interval, are one alert");
  assert.equal(hook?.signed, true);
  assert.equal(hook.message?.policy_id, policy);
  assert.equal(hook.message.data["zone_name"], "shop.example");
  // The five minutes may have begun before the first requests.
  assert.ok([SPIKE, SPIKE + STEADY].includes(Number(hook.message.data["events"])));
  const [letter, ...letters] = mailed();
  assert.deepEqual(letters, []);
  assert.deepEqual(letter?.to, ["ops@example.com"]);
  assert.match(letter.source ?? "", /^Subject: Security events in shop\.example: 2[57]0 in 5 minutes\r$/m);
  const ofPolicy = (history as readonly Record<string, unknown>[]).filter((entry) => entry["policy_id"] === policy);
  assert.deepEqual(ofPolicy.map(({ mechanism_type, status }) => `${mechanism_type} ${status}`).toSorted(), ["email sent", "webhook sent"]);
  assert.ok(ofPolicy.every(({ alert_body }) => String(alert_body).includes(hook.message?.text ?? "-")));
});
