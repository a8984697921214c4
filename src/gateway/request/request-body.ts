import { FairMemory, type MemoryShare } from "#kernel/fair-memory.ts";
import { networkOf } from "#kernel/net/network-of.ts";
import type { Metric } from "#kernel/process/metrics.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayLimits } from "#gateway/config.ts";

/** A request's body: whole if it is small, otherwise its beginning and the stream of all of it. */
export type RequestBody =
  | { readonly kind: "whole"; readonly bytes: Buffer; readonly memory?: MemoryShare }
  | {
      readonly kind: "stream";
      readonly head: Buffer;
      readonly stream: CountedStream;
      readonly length: string | undefined;
      readonly memory?: MemoryShare;
    }
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
  /**
   * A body up to `wholeBytesMax` is read whole. Its memory counts for the client and for the account. Never rejects. Call
   * `release` once the body is no longer needed.
   */
  read(req: ClientRequest, accountId: string, wholeBytesMax: number): Promise<RequestBody>;
  release(body: RequestBody): void;
}

/** `held` is the gauge of the bytes in memory; it also enforces the bound. */
export function createBodyReader(limits: GatewayLimits, held: Metric): BodyReader {
  const memory = new FairMemory(limits.requestMemoryBytesMax, held);
  const read = (req: ClientRequest, accountId: string, wholeBytesMax: number): Promise<RequestBody> => {
    if (Number(req.headers["content-length"] ?? 0) > limits.requestBytesMax)
      return Promise.resolve({ kind: "refused", reason: "aig_body_too_large" });
    return new Promise((resolve) => {
      const gathered = new GatheredBytes();
      const share = memory.share(accountId, networkOf(req.address));
      let queue: BodyQueue | undefined;
      let isSettled = false;
      const settle = (body: RequestBody): void => {
        isSettled = true;
        if (body.kind === "refused" || body.kind === "gone") share.release();
        resolve(body);
      };
      req.take({
        onData: (chunk) => {
          if (queue !== undefined) return queue.push(chunk);
          if (isSettled) return;
          gathered.push(chunk);
          if (!share.take(chunk.length)) settle({ kind: "refused", reason: "aig_overloaded" });
          else if (gathered.length > wholeBytesMax) {
            const head = gathered.joined();
            queue = new BodyQueue(head, req, limits.requestBytesMax);
            settle({ kind: "stream", head, stream: queue, length: req.headers["content-length"], memory: share });
          }
        },
        onEnd: () => {
          if (queue !== undefined) queue.end();
          else if (!isSettled) settle({ kind: "whole", bytes: gathered.take(), memory: share });
        },
        onGone: () => {
          if (queue !== undefined) queue.fail();
          else if (!isSettled) settle({ kind: "gone" });
        },
      });
    });
  };
  const release = (body: RequestBody): void => {
    if (body.kind === "whole" || body.kind === "stream") body.memory?.release();
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
