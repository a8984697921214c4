import type { MessagePort } from "node:worker_threads";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { BatchAnswer, BatchMessage, NodeBatch } from "#events/rows/node-batch.ts";
import { eventsSubject } from "#snapshot/bus/node-subjects.ts";
import { decodePiece, type Piece, type PieceAnswer } from "./event-pieces.ts";

/** Moves the events of nodes into those of control. */
export interface EventCollector {
  listen(connection: NatsConnection): void;
  close(): void;
}

export interface EventCollectorDeps {
  /** Only one process with control collects events at a time, because each process has its own event database. */
  isLeading(): boolean;
  /** A new port to the writer of events. */
  writerPort(): MessagePort;
}

/** Chunks of a batch that has not arrived completely. */
interface Assembly {
  readonly key: string;
  readonly parts: Uint8Array[];
}

const ANSWER_LIMIT_MS = 15_000;
/** Of all nodes together. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;

export function createEventCollector({ isLeading, writerPort }: EventCollectorDeps): EventCollector {
  /** By node and source. */
  const assemblies = new Map<string, Assembly>();
  let waitingBytes = 0;
  const writer = createWriterQuestions(writerPort);

  const forget = (id: string): void => {
    for (const part of assemblies.get(id)?.parts ?? []) waitingBytes -= part.length;
    assemblies.delete(id);
  };
  /** The whole batch with its last chunk. */
  const assembled = (node: string, piece: Piece): NodeBatch | PieceAnswer => {
    const { source, epoch, from, to, index, pieces, bytes } = piece;
    const id = `${node} ${source}`;
    const key = JSON.stringify([epoch, from, to, pieces]);
    if (index === 0) {
      forget(id);
      assemblies.set(id, { key, parts: [] });
    }
    const assembly = assemblies.get(id);
    if (assembly?.key !== key || assembly.parts.length !== index) return { next: 0 };
    if (waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      forget(id);
      return { error: "control has too many batches at once" };
    }
    // A copy: the client's buffer is of many messages.
    assembly.parts.push(Buffer.from(bytes));
    waitingBytes += bytes.length;
    if (index + 1 < pieces) return { next: index + 1 };
    forget(id);
    return { ...{ node, source, epoch, from, to }, bytes: Buffer.concat(assembly.parts) };
  };
  const answer = async (message: Msg): Promise<PieceAnswer | null> => {
    // Another process with control has the lease, and answers.
    if (!isLeading()) return null;
    const piece = decodePiece(message.data);
    if (piece === null) return { error: "the message is not a piece of a batch" };
    const found = assembled(message.subject.split(".")[2] ?? "", piece);
    return "bytes" in found ? writer.ask(found) : found;
  };
  const respond = async (message: Msg): Promise<void> => {
    const said = await answer(message).catch((reason: unknown): PieceAnswer => ({ error: String(reason) }));
    if (said !== null) message.respond(JSON.stringify(said));
  };
  return {
    listen: (connection) =>
      void connection.subscribe(eventsSubject("*"), {
        callback: (error, message) => {
          if (error === null) void respond(message);
        },
      }),
    close: () => {
      assemblies.clear();
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
