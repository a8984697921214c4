import type { MessagePort } from "node:worker_threads";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import type { BatchAnswer, BatchMessage, NodeBatch } from "#events/rows/node-batch.ts";
import type { SharedLogs } from "#control/gateways/shared-logs.ts";
import { eventsSubject } from "#snapshot/bus/node-subjects.ts";
import { isBefore } from "#events/rows/node-batch.ts";
import type { SharedPlaces } from "./shared-places.ts";
import { createEventAssembly } from "./event-assembly.ts";
import { decodePiece, type PieceAnswer } from "./event-pieces.ts";
import type { PieceSenders } from "./signed-pieces.ts";

/** Moves the events of nodes into those of control. */
export interface EventCollector {
  listen(connection: NatsConnection): void;
  /** Stores a batch in this server's events. */
  put(batch: NodeBatch): Promise<PieceAnswer>;
  close(): void;
}

export interface EventCollectorDeps {
  readonly clock: Clock;
  /** Only one process with control collects events at a time, because each process has its own event database. */
  isLeading(): boolean;
  /** A new port to the writer of events. */
  writerPort(): MessagePort;
  readonly places: SharedPlaces;
  readonly senders: PieceSenders;
  /** Other servers with control read logs too. */
  readonly sharedLogs: Pick<SharedLogs, "take">;
}

const ANSWER_LIMIT_MS = 15_000;

export function createEventCollector({ clock, isLeading, writerPort, places, senders, sharedLogs }: EventCollectorDeps): EventCollector {
  const assembly = createEventAssembly({ clock });
  const writer = createWriterQuestions(writerPort);

  /** Batches of which the writer has not said that it stored them, by node and source; a node sends the next one after that. */
  const writing = new Set<string>();
  const store = async (batch: NodeBatch): Promise<PieceAnswer> => {
    const place = `${batch.node} ${batch.source}`;
    if (writing.has(place)) return { error: "control is still storing the batch before" };
    writing.add(place);
    return storeOnce(batch).finally(() => writing.delete(place));
  };
  const storeOnce = async (batch: NodeBatch): Promise<PieceAnswer> => {
    const shared = batch.source === "logs" ? await sharedLogs.take(batch) : null;
    if (shared !== null) return shared;
    const others = await places.ofOthers(batch.node, batch);
    // The process that led before has them.
    if (others !== null && isBefore(batch.from, others)) return { stored: others };
    const answer = await writer.ask(batch);
    if (answer.stored === undefined || !isBefore(batch.from, answer.stored)) return answer;
    await places.keep(batch.node, batch, answer.stored);
    return answer;
  };
  const answer = async (message: Msg): Promise<PieceAnswer | null> => {
    // Another process with control has the lease, and answers.
    if (!isLeading()) return null;
    const piece = decodePiece(message.data);
    if (piece === null) return { error: "the message is not a piece of a batch" };
    const node = message.subject.split(".")[2] ?? "";
    const refusal = await senders.refusal(node, piece);
    if (refusal !== null) return { error: refusal };
    const found = assembly.add(node, piece);
    return "bytes" in found ? store(found) : found;
  };
  const respond = async (message: Msg): Promise<void> => {
    const said = await answer(message).catch((reason: unknown): PieceAnswer => ({ error: String(reason) }));
    if (said !== null) message.respond(JSON.stringify(said));
  };
  return {
    put: writer.ask,
    listen: (connection) =>
      void connection.subscribe(eventsSubject("*"), {
        callback: (error, message) => {
          if (error === null) void respond(message);
        },
      }),
    close: () => {
      assembly.clear();
      writer.close();
    },
  };
}

interface WriterQuestions {
  ask(batch: NodeBatch): Promise<PieceAnswer>;
  close(): void;
}

function createWriterQuestions(writerPort: () => MessagePort): WriterQuestions {
  const waiting = new Map<number, (answer: PieceAnswer) => void>();
  let port: MessagePort | null = null;
  let last = 0;
  const open = (): MessagePort => {
    const opened = writerPort();
    opened.on("message", ({ request, ...answer }: BatchAnswer) => {
      waiting.get(request)?.(answer);
      waiting.delete(request);
    });
    // The writer has ended: a later request of the nodes shows whether it stored the batches.
    opened.on("close", () => {
      if (port === opened) port = null;
      for (const resolve of waiting.values()) resolve({ error: "the writer of events has ended" });
      waiting.clear();
    });
    opened.unref();
    return opened;
  };
  return {
    ask: (batch) => {
      const request = ++last;
      const { promise, resolve } = Promise.withResolvers<PieceAnswer>();
      waiting.set(request, resolve);
      // A port to a writer that has ended before it took it never closes.
      const limit = setTimeout(() => {
        port?.close();
        port = null;
        waiting.delete(request);
        resolve({ error: "the writer of events does not answer" });
      }, ANSWER_LIMIT_MS).unref();
      (port ??= open()).postMessage({ type: "batch", request, batch } satisfies BatchMessage);
      return promise.finally(() => clearTimeout(limit));
    },
    close: () => port?.close(),
  };
}
