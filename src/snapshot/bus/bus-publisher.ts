import type { KeyObject } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { jetstream, JetStreamApiError, jetstreamManager, type StreamConfig, StorageType } from "@nats-io/jetstream";
import { headers, type NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import type { FeedLog, FeedSource } from "#snapshot/feed.ts";
import { CHANGES, COPIES, readDelta, DELTAS, encodeDelta, type FullName, LIVE, type Place } from "./bus-message.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { holdAgain, isUrgent, releasedCopy, type Rollout } from "./rollout.ts";
import { copiesOf, keepCopies, openCopies, putCopy } from "./full-copies.ts";

/** Carries the changes of control's database to the bus, while this process leads. */
export interface BusPublisher {
  /** A node cannot follow the deltas and needs a newer full copy. */
  requestCopy(rev: number): void;
  /** Nodes hear at once how far the rollout is. */
  announce(): void;
  stop(): Promise<void>;
}

export interface BusPublisherDeps {
  readonly connection: NatsConnection;
  readonly source: FeedSource;
  /** Signs each message (Ed25519). */
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  readonly log: FeedLog;
  readonly clock: Pick<Clock, "monotonicMs" | "nowMs">;
  /** Absent: nodes get all changes at once. */
  readonly rollout?: Rollout;
  /** Whether this process is the one that publishes. */
  isLeading(): boolean;
  /** Entries as nodes may have them: their secrets sealed with the keys of the planes. */
  sealed(ops: readonly Op[]): readonly Op[];
}

const STREAM: Partial<StreamConfig> & { readonly name: string } = {
  name: CHANGES,
  subjects: [DELTAS],
  storage: StorageType.File,
  allow_direct: true,
  republish: { src: DELTAS, dest: LIVE },
  max_msgs: 50_000,
  duplicate_window: 120e9,
};
/** A full copy is replaced after this many revisions. */
const COPY_EVERY = 2_000;
const COPY_REQUESTED_EVERY_MS = 10_000;
/** A node may ask after each change: copies take at most a tenth of the time. */
const COPY_PAUSE = 10;
const COPIES_KEPT = 2;
const AHEAD = 64;
const BEAT_MS = 1_000;
const TIMEOUT_MS = 2_000;
const RETRY_MS = 200;
/**
 * The bus cannot write to the stream's files: somebody deleted them under it, or its disk is full. Of the first it never recovers by itself. The
 * number is from JetStream's list of errors, JSStreamStoreFailedF.
 */
const STORE_FAILED = 10_077;
/** Bytes reserved for the head of a message beside its body. */
const HEAD_BYTES = 4_096;

/**
 * The end of the stream, the only one that may be continued. A process that was frozen and believes to lead is refused by the stream, which
 * expects the sequence before each message: that, not the lease, is the fence.
 */
interface End {
  readonly seq: number;
  readonly place: Place;
}

export async function startBusPublisher(deps: BusPublisherDeps): Promise<BusPublisher> {
  const { connection, source, key, log, clock } = deps;
  const js = jetstream(connection, { timeout: TIMEOUT_MS });
  const jsm = await jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT_MS });
  let stopped = false;
  let end: End | null = null;
  /** Those in the object store, the newest first. */
  let copies: readonly FullName[] = [];
  let requested = -1;
  let copiedAt = 0;
  let copyMs = 0;
  let isStoreBroken = false;
  let wakeUp = Promise.withResolvers<void>();

  const heartbeats = createHeartbeats({
    ...{ connection, key, clock, rollout: deps.rollout },
    state: () => (end !== null && deps.isLeading() ? { place: end.place, copies } : null),
  });
  /** Returns its position: that of the database now. */
  const writeCopy = async (): Promise<Place> => {
    const store = await openCopies(js);
    const begun = clock.monotonicMs();
    const { at, own } = await source.stream(async (position, pages) => {
      async function* sealed(): AsyncGenerator<readonly Op[]> {
        for await (const page of pages) yield deps.sealed(page);
      }
      return { at: position, own: await putCopy(store, position, sealed(), key) };
    });
    copiedAt = clock.monotonicMs();
    copyMs = copiedAt - begun;
    // Another process that leads may have deleted it already.
    const all = [own, ...(await copiesOf(store, at.history, deps.publicKey)).filter(({ name }) => name !== own.name)];
    const forHeld = releasedCopy(deps.rollout, all);
    // Some nodes may still be reading the previous one.
    copies = all.filter((copy, i) => i < COPIES_KEPT || copy === forHeld);
    await keepCopies(store, copies);
    return { ...at, hash: "" };
  };

  /** The signed message at a sequence of the stream, as a place in the database's history; null if control did not sign it. */
  const placeAt = async (seq: number): Promise<(Place & { readonly from: number }) | null> => {
    const message = await jsm.direct.getMessage(CHANGES, { seq }).catch(() => null);
    if (message === null) return null;
    try {
      return readDelta((name) => message.header.get(name), message.data, deps.publicKey, "");
    } catch {
      return null;
    }
  };
  /** Begins where the stream ends if the database has what follows; otherwise the stream begins again after a full copy. */
  const takeOver = async (): Promise<void> => {
    // Nothing on the bus is needed: all of it is in the database.
    if (isStoreBroken) for (const name of [CHANGES, COPIES]) await jsm.streams.delete(name).catch(() => false);
    isStoreBroken = false;
    const { state } = await jsm.streams.info(CHANGES).catch(() => jsm.streams.add(STREAM));
    const [first, last] = state.messages === 0 ? [null, null] : await Promise.all([placeAt(state.first_seq), placeAt(state.last_seq)]);
    // A message for each revision: one of control's own that somebody has published again is too many.
    const isWhole = last !== null && first !== null && last.rev - first.rev === state.last_seq - state.first_seq;
    const isContinued = isWhole && (await source.since(last)) !== null;
    if (isContinued) {
      const { history, rev, hash } = last;
      copies = await copiesOf(await openCopies(js), history, deps.publicKey);
      end = { seq: state.last_seq, place: { history, rev, hash } };
      // From a full copy a node must get to the first delta.
      if (copies[0] === undefined || copies[0].rev < first.from) await writeCopy();
    } else {
      if (state.messages > 0) await jsm.streams.purge(CHANGES);
      end = { seq: state.last_seq, place: await writeCopy() };
    }
    if (deps.rollout !== undefined) await holdAgain(deps.rollout, source, end.place);
    log("info", "this process publishes changes on the bus", { ...end.place, continued: isContinued });
  };

  const publishNews = async (): Promise<void> => {
    for (const until = clock.monotonicMs() + BEAT_MS / 2; end !== null && deps.isLeading() && clock.monotonicMs() < until;) {
      const { seq, place } = end;
      const deltas = await source.since(place);
      if (deltas === null) throw new Error("the database has another history, or no longer what follows the stream");
      if (deltas.length === 0) return;
      const bytesMax = (connection.info?.max_payload ?? 1 << 20) - HEAD_BYTES;
      let { hash } = place;
      let before = "";
      const sent = deltas.slice(0, AHEAD).map(({ from, rev, ops }, index) => {
        const message = encodeDelta({ history: place.history, from, rev, ops: deps.sealed(ops) }, hash, key, bytesMax);
        hash = message.hash;
        if (!message.isWhole) requested = rev;
        const fields = headers();
        for (const [name, value] of message.headers) fields.set(name, value);
        // The stream refuses every message after a refused one, also if another leader's message has its place.
        const follows = index === 0 ? {} : { lastMsgID: before };
        before = `${place.history}:${rev}:${hash}`;
        const options = {
          headers: fields,
          msgID: before,
          expect: { lastSequence: seq + index, ...follows },
          timeout: TIMEOUT_MS,
          retries: 0,
        };
        return js.publish(DELTAS, message.body, options);
      });
      const results = await Promise.allSettled(sent);
      for (const result of results) {
        if (result.status === "rejected") throw result.reason;
        if (result.value.duplicate) throw new Error("the stream has a delta of this name that it no longer holds");
      }
      for (const { rev, ops } of deltas.slice(0, AHEAD)) deps.rollout?.published(rev, isUrgent(ops));
      end = { seq: seq + sent.length, place: { history: place.history, rev: deltas[sent.length - 1]!.rev, hash } };
      heartbeats.soon();
      // A commit in between has woken this loop again.
      if (deltas.length === sent.length && deltas.length < (source.deltasAtOnce ?? 0)) return;
    }
  };
  const copyIfNeeded = async (): Promise<void> => {
    if (end === null) return;
    const copyRev = copies[0]?.rev ?? -Infinity;
    const mayRepeat = copiedAt === 0 || clock.monotonicMs() - copiedAt > Math.max(COPY_REQUESTED_EVERY_MS, COPY_PAUSE * copyMs);
    // A node can say any revision.
    requested = Math.min(requested, end.place.rev);
    // A request for the newest copy's revision is from a node that could not use it.
    if ((requested >= copyRev && requested >= 0 && mayRepeat) || end.place.rev - copyRev >= COPY_EVERY) {
      const wanted = requested;
      requested = -1;
      await writeCopy().catch((error: unknown) => {
        requested = Math.max(requested, wanted);
        throw error;
      });
      heartbeats.now();
    }
  };
  const run = async (): Promise<void> => {
    let checkedAt = 0;
    /** A reason is logged once, not at each attempt until the end of an outage. */
    let failing = "";
    while (!stopped) {
      try {
        if (!deps.isLeading()) end = null;
        else {
          if (end === null) await takeOver();
          await publishNews();
          await copyIfNeeded();
          failing = "";
          if (clock.monotonicMs() - checkedAt >= BEAT_MS) {
            checkedAt = clock.monotonicMs();
            const { state } = await jsm.streams.info(CHANGES);
            if (state.last_seq !== end?.seq) throw new Error(`the stream ends at ${state.last_seq} instead of ${end?.seq}`);
            heartbeats.now();
          }
        }
      } catch (error) {
        isStoreBroken = error instanceof JetStreamApiError && error.code === STORE_FAILED;
        const reason = String(error);
        if (!stopped && reason !== failing) log("warn", "publishing on the bus failed; taking the stream over again", { reason });
        failing = reason;
        end = null;
        await delay(RETRY_MS);
      }
      await Promise.race([wakeUp.promise, delay(BEAT_MS / 2)]);
      wakeUp = Promise.withResolvers<void>();
    }
  };
  const stopListening = source.onCommit(() => wakeUp.resolve());
  const running = run();
  return {
    requestCopy: (rev) => {
      requested = Math.max(requested, rev);
    },
    announce: heartbeats.now,
    stop: async () => {
      stopped = true;
      stopListening();
      wakeUp.resolve();
      await running;
      heartbeats.stop();
    },
  };
}
