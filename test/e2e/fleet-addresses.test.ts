import assert from "node:assert/strict";
import { test } from "node:test";
import { succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, fleetDirectory, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

async function addressesAt({ ready }: Selvedge, ...more: readonly string[]): Promise<readonly string[]> {
  const { port } = new URL(`udp://${ready.dns}`);
  const text = await runClient("dig", [
    "@127.0.0.1",
    "-p",
    port,
    "www.fleet.example",
    "A",
    "+noall",
    "+answer",
    "+time=60",
    "+tries=1",
    ...more,
  ]);
  return text
    .split("\n")
    .flatMap((line) => (/\sA\s+(\S+)$/.exec(line) ?? []).slice(1))
    .sort();
}

test("nameservers of all nodes answer with the addresses of healthy nodes, and with all if none is healthy", { skip }, async (t) => {
  const world = await startFleet(t);
  const { call, account } = world;
  const zone = await succeed(call("POST", "/zones", { name: "fleet.example", account: { id: account } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", proxied: true }));
  const nameserver = await world.start(await world.join("ns-1", "nameserver"));
  const answers = (expected: readonly string[]) =>
    eventually(async () => JSON.stringify(await addressesAt(nameserver)) === JSON.stringify(expected));
  await answers(["127.0.0.1"]);

  const { token } = await fleetCommand(world.env, "node", "token", "--name", "fra-1", "--planes", "edge", "--addresses", "203.0.113.1");
  const fraDir = fleetDirectory(t, "fra-1");
  await fleetCommand({}, "join", world.origin, token, "--data", fraDir);
  const amsDir = await world.join("ams-1", "edge,nameserver");
  await fleetCommand(world.env, "node", "set", "ams-1", "--addresses", "203.0.113.2");
  let fra = await world.start(fraDir);
  const ams = await world.start(amsDir);
  const nodes = async (): Promise<Readonly<Record<string, boolean>>> => {
    const list: readonly any[] = await succeed(call("GET", `/accounts/${account}/nodes`));
    return Object.fromEntries(list.map(({ name, in_answers }) => [name, in_answers]));
  };
  await answers(["203.0.113.1", "203.0.113.2"]);
  assert.deepEqual(await nodes(), { "ams-1": true, "fra-1": true, "ns-1": false });

  // The API shows the owner's address.
  const [record] = await succeed(call("GET", `/zones/${zone.id}/dns_records?name=www.fleet.example`));
  assert.equal(record.content, "192.0.2.1");
  // The node's address is known as this installation's own.
  const loop = await call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "loop", content: "203.0.113.2", proxied: true });
  assert.notEqual(loop.status, 200, JSON.stringify(loop.body));

  await fra.kill();
  await answers(["203.0.113.2"]);
  assert.deepEqual(await addressesAt(ams), ["203.0.113.2"]);
  assert.deepEqual(await nodes(), { "ams-1": true, "fra-1": false, "ns-1": false });
  // A signed zone has signatures for the set of the moment.
  await succeed(call("PATCH", `/zones/${zone.id}/dnssec`, { status: "active" }));
  assert.deepEqual(await addressesAt(nameserver, "+dnssec"), ["203.0.113.2"]);

  // All nodes are ill: nothing leaves.
  await ams.kill();
  await answers(["203.0.113.1", "203.0.113.2"]);
  fra = await world.start(fraDir);
  await answers(["203.0.113.1"]);

  // Without addresses of nodes, each nameserver has those of its configuration.
  await fleetCommand(world.env, "node", "remove", "ams-1");
  await fleetCommand(world.env, "node", "set", "fra-1", "--addresses", "none");
  await answers(["127.0.0.1"]);
});
