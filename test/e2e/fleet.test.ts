import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect as tlsConnect } from "node:tls";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { connect, jwtAuthenticator } from "@nats-io/transport-node";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

function directory(t: TestContext, name: string): string {
  const path = mkdtempSync(join(tmpdir(), `selvedge-fleet-${name}-`));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function command(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<any> {
  const { stdout } = await execute(process.execPath, ["bin/selvedge.js", ...args, "--json"], { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

interface World {
  readonly nats: NatsServer;
  readonly env: NodeJS.ProcessEnv;
  readonly call: ApiCall;
  readonly account: string;
  readonly controlDir: string;
  /** URL of control, for joining. */
  readonly origin: string;
  start(dataDir: string): Promise<Selvedge>;
  /** Joins; the node's directory. */
  join(name: string, planes: string): Promise<string>;
}

/** A control server on PostgreSQL with a bus. */
async function startWorld(t: TestContext): Promise<World> {
  const shared = sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const controlDir = directory(t, "control");
  const env = { SELVEDGE_DATABASE_URL: await (shared ?? own!).createDatabase(), SELVEDGE_DATA: controlDir };
  const start = async (dataDir: string, more: NodeJS.ProcessEnv = {}): Promise<Selvedge> => {
    const server = await startSelvedge({ dataDir, env: { SELVEDGE_SETTLE_REMOTE_MS: "60000", ...more } });
    t.after(() => server.kill());
    return server;
  };
  const first = await start(controlDir, { ...env, SELVEDGE_ROLES: "control" });
  const { token = "", account_id } = first.ready;
  await first.stop();
  const { config } = await command(env, "bus", "config", "--directory", directory(t, "nats"));
  const nats = await startNats(() => config);
  t.after(() => nats.stop());
  const control = await start(controlDir, { ...env, SELVEDGE_ROLES: "control", SELVEDGE_BUS_URL: nats.url });
  const { origin } = new URL(control.ready.api);
  return {
    ...{ nats, env, controlDir, origin, start },
    call: apiCaller(control.ready, token),
    account: account_id,
    join: async (name, planes) => {
      const { token: joining } = await command(env, "node", "token", "--name", name, "--planes", planes);
      const dataDir = directory(t, name);
      await command({}, "join", origin, joining, "--data", dataDir);
      return dataDir;
    },
  };
}

async function addressOf({ ready }: Selvedge, name: string): Promise<string> {
  const { port } = new URL(`udp://${ready.dns}`);
  const { stdout } = await execute("dig", ["@127.0.0.1", "-p", port, name, "A", "+short", "+time=60", "+tries=1"]);
  return stdout.trim();
}

async function makeZone({ call, account }: World, name: string): Promise<string> {
  const zone = await succeed(call("POST", "/zones", { name, account: { id: account } }));
  return zone.id;
}

/** Writes and returns the content, which the planes of all connected nodes have by then. */
async function writeRecord({ call }: World, zone: string, name: string, last: number): Promise<string> {
  const content = `192.0.2.${last}`;
  const made = await call("POST", `/zones/${zone}/dns_records`, { type: "A", name, content, ttl: 300 });
  assert.deepEqual([made.status, made.body.messages], [200, []]);
  return content;
}

const nodesOf = ({ call, account }: World): Promise<readonly any[]> => succeed(call("GET", `/accounts/${account}/nodes`));

/** Whether a handshake for the name succeeds with a certificate of the installation's own authority. */
async function isTrusted({ ready }: Selvedge, servername: string, ca: string): Promise<boolean> {
  const socket = tlsConnect({ host: "127.0.0.1", port: Number(new URL(ready.https).port), servername, ca });
  try {
    await once(socket, "secureConnect");
    return socket.authorized;
  } finally {
    socket.destroy();
  }
}

test("a node follows control: every answer of the API is true at its planes, also after it or the bus was away", { skip }, async (t) => {
  const world = await startWorld(t);
  const zone = await makeZone(world, "fleet.example");
  const dataDir = await world.join("fra-1", "edge,nameserver,gateway");
  let node = await world.start(dataDir);
  assert.equal(node.ready.api, "");
  await eventually(async () => (await nodesOf(world))[0]?.status === "connected");

  for (let i = 1; i <= 20; i++) {
    const written = await writeRecord(world, zone, `n${i}`, i);
    assert.equal(await addressOf(node, `n${i}.fleet.example`), written);
  }
  const [seen] = await nodesOf(world);
  assert.deepEqual([seen.name, seen.planes, seen.behind, seen.problems], ["fra-1", ["edge", "nameserver", "gateway"], 0, []]);
  assert.equal(seen.addresses.dns, node.ready.dns);

  // Secrets are there, sealed for the planes that open them.
  await succeed(world.call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const ca = readFileSync(join(world.controlDir, "ca.pem"), "utf8");
  await eventually(() => isTrusted(node, "www.fleet.example", ca).catch(() => false));
  await succeed(world.call("PATCH", `/zones/${zone}/dnssec`, { status: "active" }));
  const port = new URL(`udp://${node.ready.dns}`).port;
  const signed = await execute("dig", ["@127.0.0.1", "-p", port, "n1.fleet.example", "A", "+dnssec", "+time=60", "+tries=1"]);
  assert.match(signed.stdout, /RRSIG\s+A 13/);

  // Away, changed meanwhile, and back.
  await node.kill();
  await eventually(async () => (await nodesOf(world))[0]?.status === "away");
  const missed = await writeRecord(world, zone, "missed", 77);
  node = await world.start(dataDir);
  await eventually(async () => (await addressOf(node, "missed.fleet.example")) === missed);

  // A wiped bus is filled again from the database.
  await world.nats.kill();
  world.nats.wipe();
  const unheard = await world.call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "unheard", content: "192.0.2.78", ttl: 300 });
  assert.equal(unheard.status, 200);
  await world.nats.start();
  await eventually(async () => (await addressOf(node, "unheard.fleet.example")) === "192.0.2.78");
  await eventually(async () => (await nodesOf(world))[0]?.status === "connected");
  const again = await writeRecord(world, zone, "again", 79);
  assert.equal(await addressOf(node, "again.fleet.example"), again);

  // Without bus and control it starts from its last good copy.
  await node.stop();
  await world.nats.kill();
  node = await world.start(dataDir);
  assert.equal(await addressOf(node, "again.fleet.example"), "192.0.2.79");
});

test(
  "a node's credentials do what a node needs and no more, its token counts once, and a removed node hears nothing",
  { skip },
  async (t) => {
    const world = await startWorld(t);
    const zone = await makeZone(world, "locked.example");
    const { token } = await command(world.env, "node", "token", "--name", "ams-1", "--planes", "nameserver");
    const dataDir = directory(t, "ams-1");
    await command({}, "join", world.origin, token, "--data", dataDir);
    const again = execute(process.execPath, ["bin/selvedge.js", "join", world.origin, token, "--data", directory(t, "thief")]);
    await assert.rejects(again, /control does not accept the token/);
    await assert.rejects(execute(process.execPath, ["bin/selvedge.js", "join", "http://control.example:8780", token]), /use https:\/\//);

    // Nothing on its disk opens secrets of planes that it does not run.
    const files = readdirSync(dataDir);
    assert.ok(!files.includes("seal.key") && !files.includes("edge.keys") && !files.includes("gateway.keys"));
    const root = readFileSync(join(world.controlDir, "seal.key"));
    for (const file of files)
      for (const form of [root, root.toString("base64"), root.toString("base64url"), root.toString("hex")])
        assert.equal(readFileSync(join(dataDir, file)).includes(form), false, `${file} has the installation's own key`);

    const node = await world.start(dataDir);
    await eventually(async () => (await nodesOf(world))[0]?.status === "connected");
    const before = await writeRecord(world, zone, "before", 1);
    assert.equal(await addressOf(node, "before.locked.example"), before);

    const state = JSON.parse(readFileSync(join(dataDir, "node.json"), "utf8"));
    const login = { servers: world.nats.url, authenticator: jwtAuthenticator(state.jwt, Buffer.from(state.seed)) };
    const thief = await connect({ ...login, inboxPrefix: "_INBOX_ams-1" });
    t.after(() => thief.close());
    const refused: string[] = [];
    void (async () => {
      for await (const status of thief.status()) if ("error" in status) refused.push(String(status.error));
    })();
    for (const subject of [
      "sv.delta",
      "sv.live.delta",
      "sv.head",
      "sv.report.other",
      "$JS.API.STREAM.PURGE.SV_CHANGES",
      "$SYS.REQ.CLAIMS.UPDATE",
    ])
      thief.publish(subject, "x");
    for (const subject of ["sv.report.>", "_INBOX.>", "$SYS.>", "sv.delta"]) thief.subscribe(subject, { callback: () => undefined });
    await thief.flush();
    await eventually(() => refused.length >= 10);
    assert.equal(await addressOf(node, "before.locked.example"), before);

    await command(world.env, "node", "remove", "ams-1");
    await eventually(() => thief.isClosed());
    await assert.rejects(connect({ ...login, reconnect: false }), /authorization/i);
    assert.deepEqual(await nodesOf(world), []);
    await writeRecord(world, zone, "after", 2);
    assert.equal(await addressOf(node, "after.locked.example"), "");
  },
);
