import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { Readable } from "node:stream";
import { type TestContext, test } from "node:test";
import { buffer } from "node:stream/consumers";
import { jetstream } from "@nats-io/jetstream";
import { Objm } from "@nats-io/obj";
import { connect, headers, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { type Clock, systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createMemoryLog } from "../../../test/support/memory-log.ts";
import { type NatsServer, startNats } from "../../../test/support/nats.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { type BusHead, decodeHead, DELTAS, encodeHead, FULL_BUCKET, HEAD, LIVE } from "./bus-message.ts";
import { startBusPublisher } from "./bus-publisher.ts";
import { type BusSource, createBusSource } from "./bus-source.ts";
import { packCopy } from "./copy-lines.ts";
import { copyLabel } from "./copy-pieces.ts";

const { privateKey: key, publicKey } = generateKeyPairSync("ed25519");
const { privateKey: foreign } = generateKeyPairSync("ed25519");
const skip = toolOrSkip("nats-server");

const opOf = (id: string): Op => ({ kind: "acme_challenge", id, value: { host: "a.example", key_authorization: "x" } });

async function client(t: TestContext, nats: NatsServer): Promise<NatsConnection> {
  const connection = await connect({ servers: nats.url });
  t.after(() => connection.close());
  return connection;
}

async function startBus(t: TestContext) {
  const nats = await startNats();
  t.after(() => nats.stop());
  const log = createMemoryLog();
  for (let i = 0; i < 5; i++) log.commit(opOf(`first-${i}`));
  const warnings: string[] = [];
  const publisher = await startBusPublisher({
    ...{ connection: await client(t, nats), source: log.source, key, publicKey, isLeading: () => true, clock: systemClock },
    log: (level, message) => void (level === "warn" && warnings.push(message)),
    sealed: (ops) => ops,
  });
  t.after(() => publisher.stop());
  const attacker = await client(t, nats);
  const heard: Uint8Array[] = [];
  attacker.subscribe(HEAD, { callback: (_error, message) => void heard.push(message.data) });
  await eventually(() => heard.length > 0);
  return { nats, log, publisher, attacker, heard, warnings };
}

async function follow(t: TestContext, nats: NatsServer, clock: Pick<Clock, "monotonicMs" | "nowMs"> = systemClock) {
  const refusals: string[] = [];
  const source = createBusSource({ name: "node", key: publicKey, clock, log: () => {}, refused: (reason) => refusals.push(reason) });
  source.attach(await client(t, nats));
  return { source, refusals };
}

/** Identifiers of the entries that a full copy gives out, whether it is refused at its end or not. */
async function givenOut(source: BusSource): Promise<{ readonly ids: readonly string[]; readonly error: string }> {
  const ids: string[] = [];
  try {
    await source.stream(async (_at, pages) => {
      for await (const page of pages) for (const { id } of page) ids.push(id);
    });
  } catch (error) {
    return { ids, error: (error as Error).message };
  }
  return { ids, error: "" };
}

test("a node unpacks no piece of a full copy that control did not sign, and control replaces the copy", { skip }, async (t) => {
  const { nats, log, publisher, attacker, heard } = await startBus(t);
  const { full } = decodeHead(heard[0]!, publicKey);
  const store = await new Objm(jetstream(attacker)).open(FULL_BUCKET);
  const trueLabel = (await store.info(full!.name))!.metadata!;
  const evil = Array.from({ length: 3_000 }, (_, i) => opOf(`evil-${i}`));
  const packed = await buffer(packCopy(log.at(), [evil], foreign));
  const labels = [undefined, trueLabel, { ...copyLabel(full!.name, ["AAAA"], foreign) }, { pieces: trueLabel["pieces"]! }];
  for (const metadata of labels) {
    await store.put({ name: full!.name, ...(metadata === undefined ? {} : { metadata }) }, ReadableStream.from(Readable.from([packed])));
    const { source, refusals } = await follow(t, nats);
    await eventually(() => source.head() !== null);
    const { ids, error } = await givenOut(source);
    assert.deepEqual(ids, [], JSON.stringify(metadata));
    assert.match(error, /control (did not sign|signed)/);
    assert.equal(refusals.length, 1);
  }
  // As after a node's report that it refused the copy.
  publisher.requestCopy(log.at().rev);
  await eventually(async () => (await store.info(full!.name))?.metadata?.["sig"] === trueLabel["sig"]);
  const { source } = await follow(t, nats);
  await eventually(() => source.head() !== null);
  assert.deepEqual((await givenOut(source)).ids.toSorted(), ["first-0", "first-1", "first-2", "first-3", "first-4"]);
});

test("a signed heartbeat that is sent again takes no node back to a former history or revision", { skip }, async (t) => {
  const { nats, log, attacker, heard } = await startBus(t);
  const former = heard[0]!;
  let shiftMs = 0;
  const { source } = await follow(t, nats, { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + shiftMs });
  log.restore(opOf("restored"));
  await eventually(() => source.head()?.history === log.at().history);
  let seen = 0;
  attacker.subscribe(HEAD, { callback: () => void seen++ });
  for (let i = 0; i < 100; i++) attacker.publish(HEAD, former);
  await eventually(() => seen >= 100);
  const watched: string[] = [];
  await eventually(() => watched.push(source.head()!.history) > 20);
  assert.deepEqual(new Set(watched), new Set([log.at().history]));
  // Without heartbeats for a while, control may have a clock that went back.
  shiftMs = 60_000;
  attacker.publish(HEAD, former);
  await eventually(() => source.head()?.history === decodeHead(former, publicKey).history);
});

test("a signed heartbeat of ten seconds ago takes no node that has just started back to a former history", { skip }, async (t) => {
  const { nats, log, attacker, heard } = await startBus(t);
  const former = heard[0]!;
  const formerMs = decodeHead(former, publicKey).time!;
  log.restore(opOf("restored"));
  await eventually(() => decodeHead(heard.at(-1)!, publicKey).history === log.at().history);
  // As if the former one were older.
  const { source } = await follow(t, nats, { ...systemClock, nowMs: () => formerMs + 10_001 });
  const watched = new Set<string | undefined>();
  await eventually(() => {
    attacker.publish(HEAD, former);
    watched.add(source.head()?.history);
    return source.head() !== null;
  });
  assert.deepEqual(watched, new Set([undefined, log.at().history]));
});

test("heartbeats without time and without hashes of pieces, of an earlier control, work", { skip }, async (t) => {
  const { nats, log, publisher, attacker, heard } = await startBus(t);
  await publisher.stop();
  const { time: _time, full, ...place } = decodeHead(heard.at(-1)!, publicKey);
  const { source } = await follow(t, nats);
  const old: BusHead = { ...place, full: { name: full!.name, rev: full!.rev } };
  await eventually(() => {
    attacker.publish(HEAD, encodeHead(old, key));
    return source.head() !== null;
  });
  assert.deepEqual((await givenOut(source)).ids.length, 5);
  assert.equal(source.head()?.rev, log.at().rev);
});

test("an old change of control that somebody publishes again in the stream stops no later change", { skip }, async (t) => {
  const { nats, log, attacker, warnings } = await startBus(t);
  const live: Msg[] = [];
  attacker.subscribe(LIVE, { callback: (_error, message) => void live.push(message) });
  await attacker.flush();
  for (let i = 0; i < 4; i++) log.commit(opOf(`more-${i}`));
  await eventually(() => live.length === 4);
  const { source } = await follow(t, nats);
  await eventually(() => source.head()?.rev === log.at().rev);
  for (const { data, headers: sent } of [live[0]!, live[3]!]) {
    const fields = headers();
    for (const name of sent!.keys().filter((one) => one.startsWith("Sv-"))) fields.set(name, sent!.get(name));
    await jetstream(attacker).publish(DELTAS, data, { headers: fields });
    const rev = log.commit(opOf("after"));
    await eventually(() => (source.head()?.rev === rev && source.head()?.full !== null) || warnings.length > 10);
    assert.equal(source.head()?.rev, rev, warnings.join("; "));
  }
});
