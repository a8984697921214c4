import type { Readable } from "node:stream";
import { PlatformError } from "#kernel/errors/errors.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";

/**
 * A body of limited length. The framework's own reader keeps each chunk as a separate object, and a client chooses the
 * size of chunks (RFC 9112 §7.1). Rejects with `body_too_large`, or with the stream's error; further input is dropped.
 */
export function requestBytes(payload: Readable, lengthSaid: string | undefined, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A client that left before this call causes no further events.
    if (payload.destroyed) return reject(payload.errored ?? new Error("aborted"));
    const tooLarge = (): void =>
      reject(new PlatformError("body_too_large", { message: `The request body has more than ${bytesMax} bytes.` }));
    if (Number(lengthSaid) > bytesMax) return tooLarge();
    const gathered = new GatheredBytes();
    const take = (piece: Buffer): void => {
      gathered.push(piece);
      if (gathered.length <= bytesMax) return;
      payload.off("data", take);
      gathered.clear();
      tooLarge();
    };
    payload.on("data", take);
    payload.once("end", () => resolve(gathered.take()));
    payload.once("error", reject);
    payload.resume();
  });
}
