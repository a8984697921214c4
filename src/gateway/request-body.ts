import type { IncomingMessage } from "node:http";
import type { Metric } from "#kernel/metrics.ts";
import type { GatewayLimits } from "./config.ts";

/** A request's body: whole when it is small, else its beginning and the stream that yields all of it. */
export type RequestBody =
  | { readonly kind: "whole"; readonly bytes: Buffer }
  | { readonly kind: "stream"; readonly head: Buffer; readonly stream: CountedStream; readonly length: string | undefined }
  | { readonly kind: "refused"; readonly reason: "aig_body_too_large" | "aig_overloaded" }
  /** The client left before it had sent everything. */
  | { readonly kind: "gone" };

export interface CountedStream extends AsyncIterable<Buffer> {
  /** What has been taken out so far. */
  readonly bytes: number;
}

/** Thrown into the upstream request when a body without a length turns out too long on the way. */
export class BodyTooLargeError extends Error {}

export interface BodyReader {
  /** A body up to `wholeBytesMax` is read whole. Never rejects. `release` must be called once the body is not needed any more. */
  read(req: IncomingMessage, wholeBytesMax: number): Promise<RequestBody>;
  release(body: RequestBody): void;
}

/** Bodies held in memory by all requests together. */
const HELD_BYTES_MAX = 512 * 1024 * 1024;

/** `held` is the gauge of the bytes that are in memory now, and the account that the bound is kept by. */
export function createBodyReader(limits: GatewayLimits, held: Metric): BodyReader {
  const read = (req: IncomingMessage, wholeBytesMax: number): Promise<RequestBody> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const settle = (body: RequestBody): void => {
        req.off("data", onData).off("end", onEnd).off("close", onClose);
        if (body.kind === "refused" || body.kind === "gone") held.value -= size;
        resolve(body);
      };
      const onData = (chunk: Buffer): void => {
        chunks.push(chunk);
        size += chunk.length;
        held.value += chunk.length;
        if (held.value > HELD_BYTES_MAX) settle({ kind: "refused", reason: "aig_overloaded" });
        else if (size > wholeBytesMax) {
          req.pause();
          const head = Buffer.concat(chunks);
          settle({ kind: "stream", head, stream: wholeStream(head, req, limits.requestBytesMax), length: req.headers["content-length"] });
        }
      };
      const onEnd = (): void => settle({ kind: "whole", bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) });
      const onClose = (): void => settle({ kind: "gone" });
      if (Number(req.headers["content-length"] ?? 0) > limits.requestBytesMax) resolve({ kind: "refused", reason: "aig_body_too_large" });
      else req.on("data", onData).on("end", onEnd).on("close", onClose);
    });
  const release = (body: RequestBody): void => {
    held.value -= body.kind === "whole" ? body.bytes.length : body.kind === "stream" ? body.head.length : 0;
  };
  return { read, release };
}

/** The iterator leaves the request open at its end, because the answer still goes out over its connection. */
function wholeStream(head: Buffer, req: IncomingMessage, bytesMax: number): CountedStream {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    async *[Symbol.asyncIterator]() {
      bytes = head.length;
      yield head;
      for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > bytesMax) throw new BodyTooLargeError(`a request body exceeds ${bytesMax} bytes`);
        yield chunk;
      }
    },
  };
}
