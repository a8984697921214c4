import type { KeyObject } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import type { Delta, Op } from "#snapshot/entries.ts";
import type { FeedLog, FeedSource, FullCopy, Position } from "#snapshot/feed.ts";
import {
  type BusHead,
  CHANGES,
  decodeHead,
  deltaFields,
  DELTAS,
  HEAD,
  LIVE,
  NO_REVISION,
  type PackedDelta,
  readDelta,
  RefusedMessage,
  type SentDelta,
  unpackDelta,
} from "./bus-message.ts";
import { createDeltaWindow } from "./delta-window.ts";
import { createHeadOrder } from "./head-order.ts";
import { createRelease } from "./release.ts";
import { openStoredCopy } from "./stored-copy.ts";
import { createUnsignedMessages } from "./unsigned-messages.ts";

/** The feed of a node past the machine of control: deltas and full copies from the bus. */
export interface BusSource extends FeedSource {
  /** Follows the bus from now on; the connection may come and go. */
  attach(connection: NatsConnection): void;
  /** The newest revision that control has published; null before the first heartbeat. */
  head(): BusHead | null;
  /** Time since the newest heartbeat, or since the begin without one. */
  silentMs(): number;
}

export interface BusSourceDeps {
  /** The node's name. */
  readonly name: string;
  /** Control's public key (Ed25519). */
  readonly key: KeyObject;
  readonly clock: Pick<Clock, "monotonicMs" | "nowMs">;
  readonly log: FeedLog;
  /** Called with the reason and the revision of each refused message, NO_REVISION if control did not sign it. The node keeps its state. */
  refused(reason: string, rev: number): void;
  /** Size limit of a decompressed delta, in bytes. */
  readonly deltaBytesMax?: number;
}

/** Deltas that one answer holds. */
const AT_ONCE = 500;
const GET_TIMEOUT_MS = 5_000;
const HEARTBEAT_WAIT_MS = 3_000;

/**
 * Deltas arrive on a subscription, which may lose some: those that are missing come as single messages of the stream, and where the stream
 * does not have them, of another history or with another hash, a full copy does. The bus is never the truth.
 */
export function createBusSource({ name, key, clock, log, refused, deltaBytesMax }: BusSourceDeps): BusSource {
  const listeners = new Set<() => void>();
  let connection: NatsConnection | null = null;
  const window = createDeltaWindow();
  let head: BusHead | null = null;
  let heardMs = clock.monotonicMs();
  const seen = Promise.withResolvers<void>();
  /** This node's changes differ from control's, although history and revision are the same. */
  let isDiverged = false;
  const release = createRelease(name);
  const isNewer = createHeadOrder(clock);
  const wake = (): void => listeners.forEach((listener) => listener());

  const ignore = createUnsignedMessages(log, refused);
  const nack = (error: unknown, rev: number): void => {
    if (!(error instanceof RefusedMessage)) throw error;
    if (!error.isSigned) return ignore(error.message);
    log("warn", "a message of the bus was refused; this node keeps what it has", { rev, reason: error.message });
    refused(error.message, rev);
  };
  const read = (message: Msg, verified: KeyObject | null, before: string): PackedDelta =>
    readDelta((name) => message.headers?.get(name) ?? "", message.data, verified, before);

  const onLive = (message: Msg): void => {
    const fields = deltaFields((name) => message.headers?.get(name) ?? "");
    const last = window.last();
    const follows = last?.history === fields.history && last.rev === fields.from;
    try {
      const delta = unpackDelta(read(message, key, follows ? last.hash : ""), deltaBytesMax);
      if (last?.history === delta.history && delta.from < last.rev) return;
      if (!follows) window.clear();
      window.add(delta);
      wake();
    } catch (error) {
      nack(error, fields.rev);
    }
  };
  const onHead = (message: Msg): void => {
    try {
      const signed = decodeHead(message.data, key);
      if (!isNewer(signed)) return ignore("a heartbeat is not newer than the one before it");
      head = signed;
      heardMs = clock.monotonicMs();
    } catch (error) {
      return nack(error, NO_REVISION);
    }
    seen.resolve();
    const own = window.endingAt(head);
    if (own !== undefined && own.hash !== head.hash) {
      log("error", "the changes of control are not those that were followed here; taking a full copy", { rev: head.rev });
      window.clear();
      isDiverged = true;
    }
    // Also if no delta arrived.
    wake();
  };

  const newestCopy = (): BusHead["full"] => (head === null ? null : release.copyFor(head));

  const connected = (): NatsConnection => {
    if (connection === null || connection.isClosed()) throw new Error("the bus is not connected");
    return connection;
  };
  /** One message of a stream, or null: all of JetStream that a node may ask for. */
  const get = async (stream: string, which: object): Promise<Msg | null> => {
    const message = await connected().request(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(which), { timeout: GET_TIMEOUT_MS });
    return message.headers?.get("Nats-Sequence") ? message : null;
  };

  /** Deltas after the position, from the stream; null where it does not have them. */
  const fetch = async ({ history, rev }: Position): Promise<readonly SentDelta[] | null> => {
    const last = await get(CHANGES, { last_by_subj: DELTAS });
    const end = deltaFields((name) => last?.headers?.get(name) ?? "");
    if (last === null || end.history !== history) return null;
    if (end.rev <= rev) return [];
    // The stream has a message for each revision, so sequences count as revisions do.
    const first = Number(last.headers?.get("Nats-Sequence")) - (end.rev - rev) + 1;
    if (!(first >= 1)) return null;
    const messages = await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, end.rev - rev) }, (_, i) => get(CHANGES, { seq: first + i })),
    );
    const deltas: PackedDelta[] = [];
    let newest: Msg | null = null;
    try {
      for (const message of messages) {
        if (message === null) break;
        // The hash before the first one is unknown, so only its signature speaks for it.
        const delta = read(message, deltas.length === 0 ? key : null, deltas.at(-1)?.hash ?? "");
        if (delta.history !== history || delta.from !== (deltas.at(-1)?.rev ?? rev)) break;
        deltas.push(delta);
        newest = message;
      }
      // The hashes follow each other, so the last signature speaks for all behind the first.
      if (newest !== null) read(newest, key, "");
      return deltas.length === 0 ? null : deltas.map((delta) => unpackDelta(delta, deltaBytesMax));
    } catch (error) {
      // A gap like any other: a full copy replaces it.
      nack(error, (deltas.at(-1)?.rev ?? rev) + 1);
      return null;
    }
  };

  /** Deltas of the window or of the stream. */
  const sentSince = async (at: Position): Promise<readonly SentDelta[] | null> => {
    if (isDiverged || (head !== null && head.history !== at.history)) return null;
    const newest = release.limit(head, at.history);
    const allowed = (sent: readonly SentDelta[] | null): readonly SentDelta[] | null => sent && sent.filter(({ rev }) => rev <= newest);
    const kept = window.from(at, AT_ONCE);
    if (kept !== null) return allowed(kept);
    // Without a heartbeat, the node does not know of later revisions.
    return head === null || Math.min(head.rev, newest) <= at.rev ? [] : allowed(await fetch(at));
  };
  const since = async (at: Position): Promise<readonly Delta[] | null> => {
    release.reach(at);
    const sent = await sentSince(at);
    const hole = sent?.findIndex(({ ops }) => ops === null) ?? 0;
    if (sent !== null && hole !== 0)
      return (hole === -1 ? sent : sent.slice(0, hole)).map(({ from, rev, ops }) => ({ from, rev, ops: ops! }));
    // An older copy would take the node back; control writes a newer one by itself.
    const isAhead = isDiverged || head === null || head.history !== at.history || (newestCopy()?.rev ?? NO_REVISION) > at.rev;
    if (!isAhead) throw new Error(`waiting for control to write a full copy beyond revision ${at.rev}`);
    return null;
  };

  const open = async (): Promise<{ readonly at: Position; readonly pages: AsyncIterable<readonly Op[]> }> => {
    connected();
    if (head === null) await Promise.race([seen.promise, timeout(HEARTBEAT_WAIT_MS, "control has sent no heartbeat over the bus")]);
    const { history } = head!;
    const full = newestCopy();
    if (full === null) throw new Error("control has not written a full copy yet");
    const at = { history, rev: full.rev };
    return { at, pages: await openStoredCopy(get, full, at, key) };
  };
  /** Reports refusals of a full copy. */
  const noted = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      if (error instanceof RefusedMessage) nack(error, newestCopy()?.rev ?? -1);
      throw error;
    }
  };
  const readFull = async (): Promise<FullCopy> => {
    const { at, pages } = await open();
    const ops: Op[] = [];
    for await (const page of pages) for (const op of page) ops.push(op);
    isDiverged = false;
    return { ...at, ops };
  };

  return {
    attach: (joined) => {
      connection = joined;
      joined.subscribe(LIVE, { callback: (error, message) => void (error === null && onLive(message)) });
      joined.subscribe(HEAD, { callback: (error, message) => void (error === null && onHead(message)) });
    },
    head: () => head,
    silentMs: () => clock.monotonicMs() - heardMs,
    full: () => noted(readFull()),
    // The last good copy drops deltas that came before it began to read, so a copy must not be older than they are.
    stream: (use) =>
      noted(
        (async () => {
          const { at, pages } = await open();
          const missing: Delta[] = [];
          for (let rev = at.rev; ; rev = missing.at(-1)!.rev) {
            const more = await since({ history: at.history, rev });
            if (more === null) throw new Error("the full copy is too old by now");
            if (more.length === 0) break;
            missing.push(...more);
          }
          async function* all(): AsyncGenerator<readonly Op[]> {
            yield* pages;
            for (const { ops } of missing) yield ops;
          }
          return use({ history: at.history, rev: missing.at(-1)?.rev ?? at.rev }, all());
        })(),
      ),
    since,
    onCommit: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const timeout = (ms: number, reason: string): Promise<never> =>
  new Promise((_, reject) => void setTimeout(() => reject(new Error(reason)), ms).unref());
