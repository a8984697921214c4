import type { Socket } from "node:net";

/**
 * Receives the bytes of a socket as fast as they arrive, however slowly they are read: a primary ends a transfer whose
 * client does not take a message in time (Knot: half a second), and a million records take longer to read than to send.
 */
export interface ReadAhead {
  /** The next bytes; undefined after the last ones. Rejects with the socket's error, once the bytes before it are read. */
  next(): Promise<Buffer | undefined>;
}

/** Memory for bytes that are not read yet. While `take` refuses, the socket is paused. */
export interface AheadMemory {
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** Received bytes are copied into blocks, because each packet may be short. */
const BLOCK_BYTES = 256 * 1024;

/** `onPause` is called with true when the socket is paused, and with false when it continues. */
export function readAhead(socket: Socket, memory: AheadMemory, onPause: (paused: boolean) => void): ReadAhead {
  /** Only the last one has room. */
  const blocks: { readonly bytes: Buffer; start: number; end: number }[] = [];
  /** Unread bytes that `memory` has refused. */
  let refused = 0;
  let ended: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  const end = (reason: { readonly error?: unknown }): void => {
    ended ??= reason;
    wake?.();
  };
  const append = (chunk: Buffer): void => {
    for (let from = 0; from < chunk.length;) {
      let block = blocks.at(-1);
      if (!block || block.end === block.bytes.length) {
        block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), start: 0, end: 0 };
        blocks.push(block);
      }
      const copied = chunk.copy(block.bytes, block.end, from);
      block.end += copied;
      from += copied;
    }
  };
  /** Bytes of a block are written once, so that what was taken stays valid. */
  const takeSome = (): Buffer | undefined => {
    const [block] = blocks;
    if (!block || block.start === block.end) return undefined;
    const some = block.bytes.subarray(block.start, block.end);
    block.start = block.end;
    if (block.end === block.bytes.length) blocks.shift();
    return some;
  };
  const taken = (bytes: number): void => {
    const back = Math.min(refused, bytes);
    memory.release(bytes - back);
    if (refused === 0) return;
    refused -= back;
    if (refused > 0) return;
    socket.resume();
    onPause(false);
  };

  socket.on("data", (chunk: Buffer) => {
    append(chunk);
    if (!memory.take(chunk.length)) {
      refused += chunk.length;
      socket.pause();
      onPause(true);
    }
    wake?.();
  });
  socket.on("error", (error) => end({ error }));
  socket.on("close", () => end({}));

  return {
    next: async () => {
      for (;;) {
        const some = takeSome();
        if (some) {
          taken(some.length);
          return some;
        }
        if (ended) {
          if ("error" in ended) throw ended.error;
          return undefined;
        }
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
      }
    },
  };
}
