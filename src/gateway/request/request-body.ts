import type { Metric } from "#kernel/process/metrics.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayLimits } from "#gateway/config.ts";

/** A request's body: whole if it is small, otherwise its beginning and the stream of all of it. */
export type RequestBody =
  | { readonly kind: "whole"; readonly bytes: Buffer }
  | { readonly kind: "stream"; readonly head: Buffer; readonly stream: CountedStream; readonly length: string | undefined }
  | { readonly kind: "refused"; readonly reason: "aig_body_too_large" | "aig_overloaded" }
  /** The client left before it had sent everything. */
  | { readonly kind: "gone" };

export interface CountedStream extends AsyncIterable<Buffer> {
  /** Bytes read so far. */
  readonly bytes: number;
}

/** Thrown into the request to the provider if a body without a length becomes too long. */
export class BodyTooLargeError extends Error {}

export interface BodyReader {
  /** A body up to `wholeBytesMax` is read whole. Never rejects. Call `release` once the body is no longer needed. */
  read(req: ClientRequest, wholeBytesMax: number): Promise<RequestBody>;
  release(body: RequestBody): void;
}

/** Bytes of bodies that all requests together hold in memory. */
const HELD_BYTES_MAX = 512 * 1024 * 1024;

/** `held` is the gauge of the bytes in memory; it also enforces the bound. */
export function createBodyReader(limits: GatewayLimits, held: Metric): BodyReader {
  const read = (req: ClientRequest, wholeBytesMax: number): Promise<RequestBody> => {
    if (Number(req.headers["content-length"] ?? 0) > limits.requestBytesMax)
      return Promise.resolve({ kind: "refused", reason: "aig_body_too_large" });
    return new Promise((resolve) => {
      const gathered = new GatheredBytes();
      let queue: BodyQueue | undefined;
      let isSettled = false;
      const settle = (body: RequestBody): void => {
        isSettled = true;
        if (body.kind === "refused" || body.kind === "gone") held.value -= gathered.length;
        resolve(body);
      };
      req.take({
        onData: (chunk) => {
          if (queue !== undefined) return queue.push(chunk);
          if (isSettled) return;
          gathered.push(chunk);
          held.value += chunk.length;
          if (held.value > HELD_BYTES_MAX) settle({ kind: "refused", reason: "aig_overloaded" });
          else if (gathered.length > wholeBytesMax) {
            const head = gathered.joined();
            queue = new BodyQueue(head, req, limits.requestBytesMax);
            settle({ kind: "stream", head, stream: queue, length: req.headers["content-length"] });
          }
        },
        onEnd: () => {
          if (queue !== undefined) queue.end();
          else if (!isSettled) settle({ kind: "whole", bytes: gathered.take() });
        },
        onGone: () => {
          if (queue !== undefined) queue.fail();
          else if (!isSettled) settle({ kind: "gone" });
        },
      });
    });
  };
  const release = (body: RequestBody): void => {
    held.value -= body.kind === "whole" ? body.bytes.length : body.kind === "stream" ? body.head.length : 0;
  };
  return { read, release };
}

/** Reads a client's body as fast as it is consumed. */
class BodyQueue implements CountedStream {
  bytes = 0;
  readonly #req: ClientRequest;
  readonly #bytesMax: number;
  #gathered = new GatheredBytes();
  #state: "open" | "ended" | "gone" = "open";
  #wake: (() => void) | undefined;

  constructor(head: Buffer, req: ClientRequest, bytesMax: number) {
    this.#gathered.push(head);
    this.#req = req;
    this.#bytesMax = bytesMax;
    req.pause();
  }

  push(chunk: Buffer): void {
    this.#gathered.push(chunk);
    this.#req.pause();
    this.#wake?.();
  }

  end(): void {
    this.#state = "ended";
    this.#wake?.();
  }

  fail(): void {
    this.#state = "gone";
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunks = this.#gathered.list();
      this.#gathered = new GatheredBytes();
      for (const chunk of chunks) {
        this.bytes += chunk.length;
        if (this.bytes > this.#bytesMax) throw new BodyTooLargeError(`a request body exceeds ${this.#bytesMax} bytes`);
        yield chunk;
      }
      if (this.#state === "gone") throw new Error("the client disconnected while sending its request");
      if (this.#gathered.length > 0) continue;
      if (this.#state === "ended") return;
      this.#req.resume();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
