import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect as tlsConnect } from "node:tls";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { connect, jwtAuthenticator } from "@nats-io/transport-node";
import { succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, fleetDirectory, type FleetWorld, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

async function addressOf({ ready }: Selvedge, name: string): Promise<string> {
  const { port } = new URL(`udp://${ready.dns}`);
  const { stdout } = await execute("dig", ["@127.0.0.1", "-p", port, name, "A", "+short", "+time=60", "+tries=1"]);
  return stdout.trim();
}

async function makeZone({ call, account }: FleetWorld, name: string): Promise<string> {
  const zone = await succeed(call("POST", "/zones", { name, account: { id: account } }));
  return zone.id;
}

/** Writes and returns the content, which the planes of all connected nodes have by then. */
async function writeRecord({ call }: FleetWorld, zone: string, name: string, last: number): Promise<string> {
  const content = `192.0.2.${last}`;
  const made = await call("POST", `/zones/${zone}/dns_records`, { type: "A", name, content, ttl: 300 });
  assert.deepEqual([made.status, made.body.messages], [200, []]);
  return content;
}

const nodesOf = ({ call, account }: FleetWorld): Promise<readonly any[]> => succeed(call("GET", `/accounts/${account}/nodes`));

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

test("a node applies each change before the API responds, and catches up after it or the bus was down", { skip }, async (t) => {
  const world = await startFleet(t);
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
  "a node's credentials allow only what the node needs, its token works once, and a removed node receives nothing",
  { skip },
  async (t) => {
    const world = await startFleet(t);
    const zone = await makeZone(world, "locked.example");
    const { token } = await fleetCommand(world.env, "node", "token", "--name", "ams-1", "--planes", "nameserver");
    const dataDir = fleetDirectory(t, "ams-1");
    await fleetCommand({}, "join", world.origin, token, "--data", dataDir);
    const again = execute(process.execPath, ["bin/selvedge.js", "join", world.origin, token, "--data", fleetDirectory(t, "thief")]);
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
      "sv.events.other",
      "$JS.API.STREAM.PURGE.SV_CHANGES",
      "$SYS.REQ.CLAIMS.UPDATE",
    ])
      thief.publish(subject, "x");
    for (const subject of ["sv.report.>", "_INBOX.>", "$SYS.>", "sv.delta"]) thief.subscribe(subject, { callback: () => undefined });
    await thief.flush();
    await eventually(() => refused.length >= 11);
    assert.equal(await addressOf(node, "before.locked.example"), before);

    await fleetCommand(world.env, "node", "remove", "ams-1");
    await eventually(() => thief.isClosed());
    await assert.rejects(connect({ ...login, reconnect: false }), /authorization/i);
    assert.deepEqual(await nodesOf(world), []);
    await writeRecord(world, zone, "after", 2);
    assert.equal(await addressOf(node, "after.locked.example"), "");
  },
);
