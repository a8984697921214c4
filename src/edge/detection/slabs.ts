import type { MessagePort } from "node:worker_threads";
import type { Frame, SlabMessage, SlabReturn } from "./job.ts";

/** The buffers that bodies are copied into and that travel to the detector and back. */
export interface Slabs {
  /** Whether a byte more can be copied; false while every slab is with the detector. */
  hasRoom(): boolean;
  /** Copies as much of `bytes[start, end)` as the slab at hand takes and gives its place, or null without room. */
  copy(bytes: Uint8Array, start: number, end: number): { readonly from: number; readonly to: number } | null;
  /** Notes what a place in the slab at hand holds; sent along with it. */
  add(frame: Frame): void;
  flush(): void;
}

export interface SlabsDeps {
  readonly port: MessagePort;
  readonly flushMs: number;
  readonly slabBytes: number;
  readonly slabsMax: number;
}

export function createSlabs({ port, flushMs, slabBytes, slabsMax }: SlabsDeps): Slabs {
  const free: ArrayBuffer[] = [];
  let made = 0;
  let slab: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;
  let frames: Frame[] = [];
  let timer: NodeJS.Timeout | undefined;

  port.on("message", ({ slab: returned }: SlabReturn) => {
    if (returned.byteLength === slabBytes) free.push(returned);
  });

  const take = (): ArrayBuffer | null => {
    const returned = free.pop();
    if (returned !== undefined) return returned;
    if (made === slabsMax) return null;
    made++;
    return new ArrayBuffer(slabBytes);
  };

  const room = (): Uint8Array<ArrayBuffer> | null => {
    if (slab !== null && filled < slab.length) return slab;
    if (slab !== null) flush();
    const next = take();
    slab = next === null ? null : new Uint8Array(next);
    return slab;
  };

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (frames.length === 0) return;
    // Ends of bodies are said even when there is no slab to go with them.
    const buffer = slab?.buffer ?? new ArrayBuffer(0);
    const message: SlabMessage = { slab: buffer, frames };
    port.postMessage(message, [buffer]);
    slab = null;
    filled = 0;
    frames = [];
  };

  return {
    hasRoom: () => room() !== null,
    copy: (bytes, start, end) => {
      const target = room();
      if (target === null) return null;
      const from = filled;
      filled += Math.min(end - start, target.length - filled);
      target.set(bytes.subarray(start, start + filled - from), from);
      return { from, to: filled };
    },
    add: (frame) => {
      const last = frames.at(-1);
      // Most bodies come in one piece.
      if (frame.end && frame.from === frame.to && last?.job === frame.job) frames[frames.length - 1] = { ...last, end: true };
      else frames.push(frame);
      timer ??= setTimeout(flush, flushMs).unref();
    },
    flush,
  };
}
