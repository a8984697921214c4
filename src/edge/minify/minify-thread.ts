import { parentPort } from "node:worker_threads";
import { minifyBody, type MinifyTask } from "./minify-body.ts";

/** A body to minify, and the answer: null if it cannot be. The first answer, to nothing, says that the thread has loaded. */
export interface MinifyRequest {
  readonly id: number;
  readonly task: MinifyTask;
  readonly body: Uint8Array;
}
export interface MinifyAnswer {
  readonly id: number;
  readonly body: Uint8Array | null;
}

const port = parentPort;
if (port === null) throw new Error("edge/minify/minify-thread.ts runs as a worker thread");

/** Minifies one body at a time, so that the thread that started it knows which one takes too long. */
let turn: Promise<void> = Promise.resolve();

port.on("message", ({ id, task, body }: MinifyRequest) => {
  turn = turn.then(async () => {
    const small = await minifyBody(task, Buffer.from(body)).catch(() => null);
    port.postMessage({ id, body: small } satisfies MinifyAnswer);
  });
});
// Loaded: from now on, the time is that of bodies.
port.postMessage({ id: 0, body: null } satisfies MinifyAnswer);
