import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { type TestContext, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import { systemClock } from "#kernel/clock.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { applyTo, createMemoryLog, entriesText, type MemoryLog } from "../../../test/support/memory-log.ts";
import { type NatsServer, startNats } from "../../../test/support/nats.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import type { Op } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import { CHANGES, DELTAS, encodeDelta, HEAD, LIVE } from "./bus-message.ts";
import { startBusPublisher } from "./bus-publisher.ts";
import { createBusSource } from "./bus-source.ts";
import { createRollout, type Rollout } from "./rollout.ts";

const { privateKey: key, publicKey } = generateKeyPairSync("ed25519");
const skip = toolOrSkip("nats-server");

const opOf = (id: string, host: string | null): Op => ({
  kind: "acme_challenge",
  id,
  value: host === null ? null : { host, key_authorization: "x" },
});

async function client(t: TestContext, nats: NatsServer): Promise<NatsConnection> {
  const connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50, pingInterval: 1_000 });
  t.after(() => connection.close());
  return connection;
}

/** A node's copy of everything, kept up as a publisher does it. */
async function startNode(t: TestContext, nats: NatsServer, options: { readonly deltaBytesMax?: number } = {}) {
  const refusals: string[] = [];
  const source = createBusSource({
    clock: systemClock,
    name: "node",
    key: publicKey,
    log: () => {},
    refused: (reason) => refusals.push(reason),
    ...options,
  });
  source.attach(await client(t, nats));
  const entries = new Map<string, Op>();
  let at: Position | null = null;
  let copies = 0;
  const apply = (ops: readonly Op[]): void => applyTo(entries, ops);
  let isStopped = false;
  const follow = async (): Promise<void> => {
    const deltas = at === null ? null : await source.since(at);
    if (deltas === null) {
      const copy = await source.full();
      entries.clear();
      apply(copy.ops);
      copies++;
      at = { history: copy.history, rev: copy.rev };
    }
    for (const { from, rev, ops } of deltas ?? []) {
      assert.equal(from, at?.rev);
      apply(ops);
      at = { history: at!.history, rev };
    }
  };
  const running = (async () => {
    while (!isStopped) {
      await follow().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  t.after(async () => {
    isStopped = true;
    await running;
  });
  return {
    source,
    refusals,
    copies: () => copies,
    at: () => at,
    contents: (): string => entriesText(entries),
  };
}

async function startControl(t: TestContext, nats: NatsServer, log: MemoryLog, isLeading = () => true, rollout?: Rollout) {
  const publisher = await startBusPublisher({
    ...{ connection: await client(t, nats), source: log.source, key, publicKey, isLeading, clock: systemClock },
    log: () => {},
    sealed: (ops) => ops,
    ...(rollout === undefined ? {} : { rollout }),
  });
  t.after(() => publisher.stop());
  return publisher;
}

async function startBus(t: TestContext): Promise<NatsServer> {
  const nats = await startNats();
  t.after(() => nats.stop());
  return nats;
}

const isEqual = (node: Awaited<ReturnType<typeof startNode>>, log: MemoryLog) => (): boolean =>
  node.contents() === log.contents() && node.at()?.history === log.at().history;

test("a node gets every change of control: from a full copy, from deltas, and after it was disconnected", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  for (let i = 0; i < 20; i++) log.commit(opOf(`before-${i}`, "a.example"));
  await startControl(t, nats, log);
  const node = await startNode(t, nats);
  await eventually(isEqual(node, log));
  assert.equal(node.copies(), 1);
  for (let i = 0; i < 200; i++) log.commit(opOf(`after-${i % 50}`, i % 7 === 0 ? null : `host-${i}.example`));
  await eventually(isEqual(node, log));
  assert.equal(node.copies(), 1, "deltas were enough");

  // Without messages for a while, as a node that restarts with its last good copy.
  const at = node.at()!;
  for (let i = 0; i < 30; i++) log.commit(opOf(`gap-${i}`, "b.example"));
  const restarted = createBusSource({ clock: systemClock, name: "node", key: publicKey, log: () => {}, refused: assert.fail });
  restarted.attach(await client(t, nats));
  await eventually(async () => (await restarted.since(at))!.length > 0 && restarted.head()?.rev === log.at().rev);
  const missed = (await restarted.since(at))!;
  assert.deepEqual([missed[0]?.from, missed.at(-1)?.rev], [at.rev, log.at().rev]);
});

test("changes in quick succession share heartbeats, and the last one is named by one", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  log.commit(opOf("first", "a.example"));
  await startControl(t, nats, log);
  const node = await startNode(t, nats);
  await eventually(isEqual(node, log));
  let heads = 0;
  (await client(t, nats)).subscribe(HEAD, { callback: () => void heads++ });
  const beganMs = performance.now();
  const CHANGES_MADE = 60;
  for (let i = 0; i < CHANGES_MADE; i++) {
    log.commit(opOf(`one-${i}`, "b.example"));
    await eventually(isEqual(node, log));
  }
  await eventually(() => node.source.head()?.rev === log.at().rev);
  // One for changes in each tenth of a second, one in each second, and those of the begin and the end.
  const most = (performance.now() - beganMs) / 100 + (performance.now() - beganMs) / 1_000 + 3;
  assert.ok(heads <= most, `${heads} heartbeats, at most ${most}`);
});

test("after the bus is killed, wiped, loses its stream or meets a restored database, nodes still equal control", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  log.commit(opOf("first", "a.example"));
  await startControl(t, nats, log);
  const node = await startNode(t, nats);
  await eventually(isEqual(node, log));

  await nats.kill();
  log.commit(opOf("while-away", "a.example"));
  await nats.start();
  await eventually(isEqual(node, log));

  await nats.kill();
  nats.wipe();
  log.commit(opOf("while-wiped", "a.example"), opOf("first", null));
  await nats.start();
  await eventually(isEqual(node, log));

  const manager = await jetstreamManager(await client(t, nats));
  await manager.streams.delete(CHANGES);
  log.commit(opOf("without-stream", "a.example"));
  await eventually(isEqual(node, log));

  log.restore(opOf("restored", "restored.example"));
  await eventually(isEqual(node, log));
  log.commit(opOf("after-restore", "a.example"));
  await eventually(isEqual(node, log));
});

test("files that somebody deletes under a running bus are made again", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  log.commit(opOf("first", "a.example"));
  await startControl(t, nats, log);
  const node = await startNode(t, nats);
  await eventually(isEqual(node, log));
  // A server that has written to a file keeps it open for a while.
  await nats.kill();
  await nats.start();
  nats.wipe();
  log.commit(opOf("while-broken", "a.example"));
  await eventually(isEqual(node, log));
  log.commit(opOf("after", "a.example"));
  await eventually(isEqual(node, log));
});

test(
  "nodes reject messages that control did not sign and those above the size limit, report them, and apply the next",
  { skip },
  async (t) => {
    const nats = await startBus(t);
    const log = createMemoryLog();
    log.commit(opOf("first", "a.example"));
    const publisher = await startControl(t, nats, log);
    const node = await startNode(t, nats, { deltaBytesMax: 10_000 });
    await eventually(isEqual(node, log));

    const attacker = await client(t, nats);
    const { privateKey: foreign } = generateKeyPairSync("ed25519");
    const { history, rev } = log.at();
    const forged = encodeDelta({ history, from: rev, rev: rev + 1, ops: [opOf("forged", "evil.example")] }, "", foreign, 1e6);
    const fields = headers();
    for (const [name, value] of forged.headers) fields.set(name, value);
    attacker.publish(LIVE, forged.body, { headers: fields });
    attacker.publish(HEAD, JSON.stringify({ text: JSON.stringify({ history, rev: rev + 9, hash: "", full: null }), sig: "AAAA" }));
    attacker.publish(HEAD, "not JSON");
    await eventually(() => node.refusals.length >= 3);
    assert.deepEqual([node.contents(), node.source.head()?.rev], [log.contents(), rev]);
    // In the stream itself: control meets another sequence than its own, and nodes a hole.
    await jetstream(attacker).publish(DELTAS, forged.body, { headers: fields });
    log.commit(opOf("second", "a.example"));
    await eventually(isEqual(node, log));

    // Too large as a delta for this node: the full copy that control then writes has no such limit.
    const many = Array.from({ length: 500 }, (_, i) => opOf(`large-${i}`, "a.example"));
    log.commit(...many);
    await eventually(() => node.refusals.some((reason) => reason.includes("larger than 10000 bytes")));
    // As control does at the node's report.
    publisher.requestCopy(log.at().rev);
    await eventually(isEqual(node, log));
  },
);

test("a node applies no message of the stream whose body was exchanged, and unpacks none before it is verified", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  log.commit(opOf("first", "a.example"));
  const attacker = await client(t, nats);
  let heard: Uint8Array | undefined;
  attacker.subscribe(HEAD, { callback: (_error, message) => void (heard = message.data) });
  const publisher = await startControl(t, nats, log);
  const isHeard = (): boolean => heard !== undefined && Buffer.from(heard).toString().includes(`\\"rev\\":${log.at().rev},`);
  await eventually(isHeard);
  const from = log.at();
  for (const id of ["second", "third", "fourth"]) {
    log.commit(opOf(id, "a.example"));
    await eventually(isHeard);
  }
  await publisher.stop();
  const manager = await jetstreamManager(attacker);
  const { config, state } = await manager.streams.info(CHANGES);
  const kept: { readonly data: Uint8Array; readonly header: MsgHdrs }[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.direct.getMessage(CHANGES, { seq });
    kept.push({ data: message!.data, header: message!.header });
  }
  const refusals: string[] = [];
  const bomb = zstdCompressSync(JSON.stringify([opOf("forged", "x".repeat(1_000_000))]));
  const forged = zstdCompressSync(JSON.stringify([opOf("forged", "evil.example")]));
  const bodies = [forged, bomb].flatMap((body) => [1, 2, 3].map((behind) => ({ body, at: kept.length - behind })));
  for (const { body, at } of [...bodies, { body: null, at: -1 }]) {
    await manager.streams.delete(CHANGES);
    await manager.streams.add(config);
    for (const [i, { data, header }] of kept.entries()) {
      const fields = headers();
      for (const name of header.keys().filter((name) => name.startsWith("Sv-"))) fields.set(name, header.get(name));
      await jetstream(attacker).publish(DELTAS, i === at ? body! : data, { headers: fields });
    }
    const told = (reason: string): unknown => refusals.push(reason);
    const source = createBusSource({
      clock: systemClock,
      name: "node",
      key: publicKey,
      log: () => {},
      refused: told,
      deltaBytesMax: 10_000,
    });
    source.attach(await client(t, nats));
    await eventually(() => {
      attacker.publish(HEAD, heard!);
      return source.head() !== null;
    });
    const deltas = await source.since(from).catch(() => null);
    assert.deepEqual(
      deltas?.flatMap(({ ops }) => ops.map(({ id }) => id)),
      body === null ? ["second", "third", "fourth"] : undefined,
      `${at}`,
    );
  }
  assert.ok(refusals.length >= bodies.length, `${refusals.length}`);
  for (const reason of refusals) assert.match(reason, /did not sign|does not follow|not newer/);
});

test("of two leaders only one publishes: the stream refuses the one that was frozen", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  log.commit(opOf("first", "a.example"));
  await startControl(t, nats, log);
  const node = await startNode(t, nats);
  await startControl(t, nats, log);
  for (let i = 0; i < 100; i++) {
    log.commit(opOf(`n-${i}`, "a.example"));
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await eventually(isEqual(node, log));
  const manager = await jetstreamManager(await client(t, nats));
  const { state } = await manager.streams.info(CHANGES);
  const seen: number[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++)
    seen.push(Number((await manager.direct.getMessage(CHANGES, { seq }))?.header.get("Sv-Rev")));
  assert.deepEqual(
    seen,
    Array.from({ length: seen.length }, (_, i) => seen[0]! + i),
    "each revision once, in order",
  );
});

test("a node that is held back takes no full copy from beyond the release, and goes on from an older one", { skip }, async (t) => {
  const nats = await startBus(t);
  const log = createMemoryLog();
  for (let i = 0; i < 20; i++) log.commit(opOf(`before-${i}`, "a.example"));
  const released = log.contents();
  const rollout = createRollout({ clock: systemClock, waitMs: 0 });
  const facts = { canaries: ["canary"], reports: new Map(), isPaused: false, isDeaf: false };
  rollout.recall({ ...log.at(), ...facts });
  const publisher = await startControl(t, nats, log, undefined, rollout);
  const early = await startNode(t, nats);
  await eventually(isEqual(early, log));
  for (let i = 0; i < 5; i++) log.commit(opOf(`held-${i}`, "b.example"));
  await eventually(() => early.source.head()?.rev === log.at().rev);
  publisher.requestCopy(log.at().rev);
  await eventually(() => early.source.head()?.full?.rev === log.at().rev);
  const late = await startNode(t, nats);
  await eventually(() => late.copies() === 1);
  await eventually(() => late.source.head()?.full?.rev === log.at().rev);
  assert.deepEqual([early.contents(), late.contents(), late.at()?.rev], [released, released, 20]);
  // No canary is connected, so the rollout lets everything go.
  assert.equal(rollout.judge(facts).released, log.at().rev);
  publisher.announce();
  for (const node of [early, late]) await eventually(isEqual(node, log));
  assert.deepEqual([early.copies(), late.copies()], [1, 1], "deltas were enough");
});
