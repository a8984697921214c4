import { systemClock } from "#kernel/clock.ts";
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect, jwtAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { createUser } from "@nats-io/nkeys";
import { encodePiece, piecesOf } from "#app/fleet/event-pieces.ts";
import { signedPiece } from "#app/fleet/signed-pieces.ts";
import { nkeyPrivateKey } from "#wire/nats/nkey-objects.ts";
import { planeSealer } from "#kernel/crypto/plane-keys.ts";
import { createBusSource } from "#snapshot/bus/bus-source.ts";
import type { EntryTypes, Op } from "#snapshot/entries.ts";
import { succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, fleetDirectory, type FleetWorld, startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");

interface Thief {
  readonly dataDir: string;
  readonly state: { readonly jwt: string; readonly seed: string; readonly control_key: string };
  connect(inboxPrefix?: string): Promise<NatsConnection>;
}

/** Copies the directory of a node and uses what is in it. */
function thiefOf(t: TestContext, world: FleetWorld, nodeDir: string): Thief {
  const dataDir = fleetDirectory(t, "thief");
  cpSync(nodeDir, dataDir, { recursive: true });
  const state = JSON.parse(readFileSync(join(dataDir, "node.json"), "utf8"));
  return {
    ...{ dataDir, state },
    connect: async (inboxPrefix = "_INBOX_ams-1") => {
      const authenticator = jwtAuthenticator(state.jwt, Buffer.from(state.seed));
      const connection = await connect({ servers: world.nats.url, authenticator, inboxPrefix, reconnect: false });
      t.after(() => connection.close());
      return connection;
    },
  };
}

const revisions = async ({ call, account }: FleetWorld, name: string): Promise<{ status: string; behind: number; revision: number }> =>
  (await succeed(call("GET", `/accounts/${account}/nodes`))).find((node: { name: string }) => node.name === name);

/** A change that the honest node has applied before the API responds. */
async function writes(world: FleetWorld, zone: string, name: string): Promise<void> {
  const record = { type: "A", name, content: "192.0.2.1", ttl: 300 };
  const made = await world.call("POST", `/zones/${zone}/dns_records`, record);
  assert.deepEqual([made.status, made.body.messages], [200, []]);
}

test(
  "a stolen disk makes neither the bus nor control answer on subjects of changes, of JetStream or of other nodes",
  { skip },
  async (t) => {
    const world = await startFleet(t);
    const zone = (await succeed(world.call("POST", "/zones", { name: "stolen.example", account: { id: world.account } }))).id;
    const stolen = await world.join("ams-1", "nameserver");
    await world.start(await world.join("fra-1", "nameserver"));
    await eventually(async () => (await revisions(world, "fra-1"))?.status === "connected");
    await writes(world, zone, "before");
    const thief = await (await thiefOf(t, world, stolen)).connect();
    const last = async (): Promise<string> => {
      const answer = await thief.request("$JS.API.DIRECT.GET.SV_CHANGES", JSON.stringify({ last_by_subj: "sv.delta" }));
      return `${answer.headers?.get("Nats-Sequence")} ${answer.headers?.get("Sv-Rev")} ${answer.data.length}`;
    };
    const copy = async (): Promise<string> => {
      const answer = await thief.request("$JS.API.DIRECT.GET.OBJ_SV_FULL", JSON.stringify({ seq: 1, next_by_subj: "$O.SV_FULL.M.>" }));
      return `${answer.headers?.get("Nats-Sequence")} ${answer.data.length}`;
    };
    const before = [await last(), await copy()];
    const targets = [
      ...["sv.delta", "sv.live.delta", "sv.head", "sv.report.fra-1", "sv.events.fra-1", "_INBOX_fra-1.x.1"],
      ...["DELETE", "PURGE", "UPDATE", "MSG.DELETE"].map((what) => `$JS.API.STREAM.${what}.SV_CHANGES`),
      ...["DELETE", "PURGE"].map((what) => `$JS.API.STREAM.${what}.OBJ_SV_FULL`),
      ...["$O.SV_FULL.M.x", "$O.SV_FULL.C.x", "$SYS.REQ.CLAIMS.UPDATE"],
    ];
    const questions: readonly (readonly [string, string])[] = [
      ["$JS.API.DIRECT.GET.SV_CHANGES", JSON.stringify({ last_by_subj: "sv.delta" })],
      ["$JS.API.DIRECT.GET.SV_CHANGES", JSON.stringify({ last_by_subj: "sv.nothing" })],
      ["$JS.API.DIRECT.GET.SV_CHANGES", "{"],
      ["$JS.API.DIRECT.GET.OBJ_SV_FULL", JSON.stringify({ seq: 1, next_by_subj: "$O.SV_FULL.>" })],
      ["$JS.API.DIRECT.GET.SV_CHANGES.sv.delta", ""],
      ["sv.events.ams-1", "no piece"],
      ["sv.report.ams-1", "{}"],
    ];
    for (const [subject, body] of questions) for (const reply of targets) thief.publish(subject, body, { reply });
    await thief.flush();
    // Answers to what came first are there before those to what came later.
    assert.deepEqual([await last(), await copy()], before);
    await writes(world, zone, "after");
    const node = await revisions(world, "fra-1");
    assert.deepEqual([node.status, node.behind], ["connected", 0]);
  },
);

test("control takes no batch of events from somebody who may publish as a node and does not have its key", { skip }, async (t) => {
  const world = await startFleet(t);
  const owner = await (await thiefOf(t, world, await world.join("ams-1", "edge"))).connect();
  const other = nkeyPrivateKey(Buffer.from(createUser().getSeed()).toString());
  const at = { segment: 0, at: 0 };
  const [piece] = piecesOf({ source: "rows", epoch: "e", from: at, to: { segment: 0, at: 5 } }, Buffer.from("rows"));
  const answers: string[] = [];
  for (const sent of [piece!, signedPiece("ams-1", piece!, other)]) {
    const { data } = await owner.request("sv.events.ams-1", encodePiece(sent), { timeout: 10_000 });
    answers.push(Buffer.from(data).toString());
  }
  assert.deepEqual(answers, [
    '{"error":"the piece has no signature, and the node signs its pieces"}',
    '{"error":"the signature is not the node\'s"}',
  ]);
});

test("a stolen disk opens the secrets of its planes only, on the disk and on the bus", { skip }, async (t) => {
  const world = await startFleet(t);
  const { call, account } = world;
  const zone = (await succeed(call("POST", "/zones", { name: "read.example", account: { id: account } }))).id;
  const gateway = {
    id: "g",
    cache_invalidate_on_update: false,
    cache_ttl: null,
    collect_logs: true,
    rate_limiting_interval: null,
    rate_limiting_limit: null,
  };
  await succeed(call("POST", `/accounts/${account}/ai-gateway/gateways`, gateway));
  const key = "sk-secret-of-a-provider-0123456789";
  const config = { alias: "default", provider_slug: "openai", secret: key, default_config: true };
  await succeed(call("POST", `/accounts/${account}/ai-gateway/gateways/g/provider_configs`, config));
  const tunnelSecret = Buffer.from("the secret of a tunnel, 32 bytes").toString("base64");
  await succeed(call("POST", `/accounts/${account}/cfd_tunnel`, { name: "t", tunnel_secret: tunnelSecret }));
  const webhook = { name: "w", url: "http://127.0.0.1:9/secret-path-of-a-webhook", secret: "secret-of-a-webhook-0123" };
  await call("POST", `/accounts/${account}/alerting/v3/destinations/webhooks`, webhook);
  await succeed(call("PATCH", `/zones/${zone}/dnssec`, { status: "active" }));
  const nodeDir = await world.join("ams-1", "nameserver");
  const node = await world.start(nodeDir);
  await eventually(async () => (await revisions(world, "ams-1"))?.status === "connected");
  await writes(world, zone, "settled");
  await node.stop();

  const thief = thiefOf(t, world, nodeDir);
  const connection = await thief.connect();
  const source = createBusSource({
    clock: systemClock,
    name: "thief",
    key: createPublicKey(thief.state.control_key),
    log: () => undefined,
    refused: () => undefined,
  });
  source.attach(connection);
  const { ops } = await source.full();
  const later = (await source.since({ history: (await source.full()).history, rev: (await source.full()).rev })) ?? [];
  const all: readonly Op[] = [...ops, ...later.flatMap((delta) => delta.ops)];
  const sealer = planeSealer(JSON.parse(readFileSync(join(thief.dataDir, "nameserver.keys"), "utf8")));
  const opens = { tried: 0, opened: 0 };
  const tries = (sealed: string, context: string): void => {
    opens.tried++;
    assert.throws(() => sealer.open(sealed, context));
  };
  for (const { kind, id, value } of all) {
    if (value === null) continue;
    if (kind === "provider_key") tries((value as EntryTypes["provider_key"]).secret, `provider-key:${id}`);
    if (kind === "tunnel") tries((value as EntryTypes["tunnel"]).secret, `tunnel:${id}`);
    if (kind === "dnssec")
      for (const one of (value as EntryTypes["dnssec"]).keys)
        opens.opened += sealer.open(one.private_key, `dnssec:${one.id}`).length > 0 ? 1 : 0;
  }
  assert.ok(opens.tried >= 2 && opens.opened >= 1, JSON.stringify(opens));
  const texts = [
    JSON.stringify(all),
    ...readdirSync(thief.dataDir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), "latin1")),
  ];
  const root = readFileSync(join(world.controlDir, "seal.key"));
  const secrets = [
    key,
    tunnelSecret,
    "secret-path-of-a-webhook",
    webhook.secret,
    world.token,
    root.toString("latin1"),
    root.toString("base64"),
  ];
  for (const text of texts) for (const secret of secrets) assert.equal(text.includes(secret), false, secret);

  // Its credentials are none of the API, and those of the bus end with the node.
  for (const bearer of [thief.state.jwt, thief.state.seed]) {
    const headers = { authorization: `Bearer ${bearer}` };
    assert.ok([400, 401, 403].includes((await fetch(`${world.origin}/client/v4/zones`, { headers })).status));
  }
  await fleetCommand(world.env, "node", "remove", "ams-1");
  await eventually(() => connection.isClosed());
  for (const prefix of ["_INBOX_ams-1", "_INBOX_fra-1", "_INBOX"]) await assert.rejects(thief.connect(prefix), /authorization/i);
});
