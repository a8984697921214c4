import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect, jwtAuthenticator } from "@nats-io/transport-node";
import { CHANGES, HEAD, LIVE } from "#snapshot/bus/bus-message.ts";
import { inboxPrefix } from "#snapshot/bus/node-subjects.ts";
import { succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, type FleetWorld, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

async function textAt({ ready }: Selvedge, name: string): Promise<string> {
  const { port } = new URL(`udp://${ready.dns}`);
  const dig = ["@127.0.0.1", "-p", port, `${name}.rings.example`, "TXT", "+short", "+time=60", "+tries=1"];
  return (await runClient("dig", dig)).trim();
}
const has = (node: Selvedge, name: string) => async (): Promise<boolean> => (await textAt(node, name)) === `"${name}"`;

/** A zone, a canary and another node that both have its record `first`, and functions for more. */
async function startRings(t: Parameters<typeof startFleet>[0], waitSeconds: number) {
  const world = await startFleet(t, { SELVEDGE_ROLLOUT_WAIT_SECONDS: String(waitSeconds) });
  const { call, account, env } = world;
  const zone = await succeed(call("POST", "/zones", { name: "rings.example", account: { id: account } }));
  const write = async (name: string): Promise<readonly string[]> => {
    const made = await call("POST", `/zones/${zone.id}/dns_records`, { type: "TXT", name, content: `"${name}"`, ttl: 300 });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return made.body.messages.map((message: any) => message.message);
  };
  const canary = await world.start(await world.join("can-1", "nameserver"));
  const otherDir = await world.join("far-1", "nameserver");
  const other = await world.start(otherDir);
  await write("first");
  await eventually(has(other, "first"));
  const status = (): Promise<any> => succeed(call("GET", `/accounts/${account}/rollout`));
  assert.equal((await status()).state, "off");
  await fleetCommand(env, "node", "set", "can-1", "--ring", "canary");
  // Changes wait from the moment at which the nodes hear of the canary.
  let tries = 0;
  await eventually(async () => (await write(`probe${++tries}`)).join().includes("node far-1"));
  return { world, write, canary, other, otherDir, status };
}

const nodesOf = async ({ call, account }: FleetWorld): Promise<Readonly<Record<string, any>>> => {
  const list: readonly any[] = await succeed(call("GET", `/accounts/${account}/nodes`));
  return Object.fromEntries(list.map((node) => [node.name, node]));
};

test("changes reach the canary first, urgent ones do not wait, and a pause holds all of them", { skip }, async (t) => {
  const { world, write, canary, other: first, otherDir, status } = await startRings(t, 3_600);
  let other = first;
  const messages = await write("waits");
  assert.deepEqual(messages, ["The change is stored but not yet visible in: node far-1."]);
  assert.equal(await textAt(canary, "waits"), '"waits"');
  assert.equal(await textAt(other, "waits"), "");
  const before = await status();
  assert.deepEqual([before.state, before.canaries, before.reason], ["on", ["can-1"], null]);
  assert.ok(before.released < before.revision);
  assert.deepEqual(
    Object.values(await nodesOf(world)).map(({ name, ring }) => `${name} ${ring}`),
    ["can-1 canary", "far-1 all"],
  );

  await write("_acme-challenge");
  await eventually(has(other, "_acme-challenge"));
  assert.equal(await textAt(other, "waits"), '"waits"', "revisions keep their order");

  const paused = await fleetCommand(world.env, "rollout", "pause");
  assert.deepEqual([paused.state, paused.reason], ["paused", "by selvedge rollout pause"]);
  await eventually(async () => (await status()).released === (await status()).revision);
  // A process heeds the pause within about a second, and at its start at once.
  await world.restartControl();
  await write("_acme-challenge.held");
  await eventually(has(canary, "_acme-challenge.held"));
  const isHeld = async (node: Selvedge): Promise<void> => {
    assert.equal(await textAt(node, "_acme-challenge"), '"_acme-challenge"');
    assert.equal(await textAt(node, "_acme-challenge.held"), "");
  };
  await isHeld(other);
  // A restart of the node or of control, and a node that joins, change nothing.
  await other.kill();
  other = await world.start(otherDir);
  await world.restartControl();
  const fresh = await world.start(await world.join("new-1", "nameserver"));
  await eventually(async () => (await nodesOf(world))["new-1"].status === "connected");
  await eventually(has(fresh, "_acme-challenge"));
  for (const node of [other, fresh]) await isHeld(node);

  await fleetCommand(world.env, "rollout", "resume");
  for (const node of [other, fresh]) await eventually(has(node, "_acme-challenge.held"));
  assert.equal((await status()).reason, null);
});

test("a change that waited with a well canary goes on by itself, and the end of the canary stops the next one", { skip }, async (t) => {
  const { world, write, canary, other, status } = await startRings(t, 1);
  await write("well");
  await eventually(has(other, "well"));
  const ended = canary.kill();
  await write("ill");
  await ended;
  await eventually(async () => (await status()).state === "paused");
  assert.equal((await status()).reason, "can-1 was not heard of");
  assert.equal(await textAt(other, "ill"), "");
  // Without the canary, the operator lets the change through.
  await fleetCommand(world.env, "node", "set", "can-1", "--ring", "all");
  assert.equal(await textAt(other, "ill"), "");
  await fleetCommand(world.env, "rollout", "resume");
  await eventually(has(other, "ill"));
  assert.equal((await status()).state, "off");
});

test("a node that has messages without control's signature sent to a canary does not pause the rollout", { skip }, async (t) => {
  const { world, write, canary, otherDir, status } = await startRings(t, 3_600);
  const { jwt, seed } = JSON.parse(readFileSync(join(otherDir, "node.json"), "utf8"));
  const authenticator = jwtAuthenticator(jwt, Buffer.from(seed));
  const rogue = await connect({ servers: world.nats.url, authenticator, inboxPrefix: inboxPrefix("far-1") });
  t.after(() => rogue.close());
  const refused = async (): Promise<any> => (await nodesOf(world))["can-1"].refused;
  assert.equal(await refused(), null);
  // The bus sends the answer to a question to the subject that the node named, whatever its permissions are.
  for (const reply of [LIVE, HEAD]) {
    rogue.publish(`$JS.API.DIRECT.GET.${CHANGES}`, JSON.stringify({ seq: 999_999_999 }), { reply });
    await eventually(async () => (await refused()) !== null);
  }
  assert.equal((await refused()).rev, -1);
  await write("after");
  assert.equal((await status()).state, "on");
  assert.equal(await textAt(canary, "after"), '"after"');
  await canary.logged(/control did not sign[^}]*messages of the bus are ignored/);
});
