import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { NatsConnection } from "@nats-io/transport-node";
import type { BatchAnswer, SendMessage } from "#events/rows/node-batch.ts";
import { eventsSubject } from "#snapshot/bus/node-subjects.ts";
import { nkeyPrivateKey } from "#wire/nats/nkey-objects.ts";
import { encodePiece, piecesOf, type PieceAnswer } from "./event-pieces.ts";
import { signedPiece } from "./signed-pieces.ts";

export interface UplinkDeps {
  /** Of the node. */
  readonly name: string;
  /** Of its user on the bus (nkey). */
  readonly seed: string;
  current(): NatsConnection | null;
}

/** Control commits a batch before it answers. */
const ANSWER_LIMIT_MS = 20_000;

/** Carries batches of a thread to control and the answers back; the other end of the port is the thread's. */
export function openUplink({ name, seed, current }: UplinkDeps): MessagePort {
  const key = nkeyPrivateKey(seed);
  const { port1: near, port2: far } = new MessageChannel();
  const send = async ({ bytes, ...range }: SendMessage): Promise<Omit<BatchAnswer, "request">> => {
    let answer: PieceAnswer = {};
    for (const piece of piecesOf(range, bytes)) {
      const connection = current();
      if (connection === null) return { error: "the bus is not connected" };
      const { data } = await connection.request(eventsSubject(name), encodePiece(signedPiece(name, piece, key)), {
        timeout: ANSWER_LIMIT_MS,
      });
      answer = JSON.parse(Buffer.from(data).toString()) as PieceAnswer;
      if (answer.next !== piece.index + 1) break;
    }
    return answer.next === undefined ? answer : { error: "control has lost a piece" };
  };
  near.on("message", (message: SendMessage) => {
    send(message)
      .catch((error: unknown): Omit<BatchAnswer, "request"> => ({ error: error instanceof Error ? error.message : String(error) }))
      .then((answer) => near.postMessage({ ...answer, request: message.request } satisfies BatchAnswer))
      .catch(() => near.close());
  });
  near.unref();
  return far;
}
