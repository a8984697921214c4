import { createInheritedSockets, type InheritedSockets, type PassedSocket } from "./inherited-sockets.ts";
import type { Config } from "#app/config/config.ts";

/** Passed in the environment by the process before this one. */
export interface HandedOver {
  readonly sockets: readonly PassedSocket[];
  readonly servesZones: boolean;
}

export const HANDED_OVER = "SELVEDGE_HANDED_OVER";

/** Messages between the two processes, in this order: each is sent once at most. */
export type FromSuccessor =
  | { readonly type: "loaded" }
  | { readonly type: "serving" }
  /** In place of the others: it cannot serve, and ends. */
  | { readonly type: "failed"; readonly reason: string };
export type ToSuccessor =
  /** The state directory and the database are free. */
  | { readonly type: "released" }
  /** The server shall end once the process before this one has: a signal waits there, and is lost if that process crashes. */
  | { readonly type: "ending" }
  /** The planes have ended, and the events database is free. */
  | { readonly type: "drained" };

/** The next process's side of a restart without loss (docs/adr/0238). */
export interface TakeOver {
  sockets(config: Config): InheritedSockets;
  /** The program is loaded and the configuration read. Resolves when the state is free. */
  loaded(): Promise<void>;
  /** Every plane serves. */
  serving(): void;
  /** It cannot serve. Resolves when the process before knows why. */
  failed(reason: string): Promise<void>;
  /** One Int32: 1 once the events database is free. */
  readonly eventsFree: SharedArrayBuffer;
}

/** Null unless another process has started this one to take over. Must run before the configuration is read. */
export function takeOverOf(process: NodeJS.Process): TakeOver | null {
  const text = process.env[HANDED_OVER];
  delete process.env[HANDED_OVER];
  if (text === undefined || process.send === undefined) return null;
  const { sockets, servesZones } = JSON.parse(text) as HandedOver;
  const eventsFree = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const drained = (): void => {
    Atomics.store(new Int32Array(eventsFree), 0, 1);
    resolve();
  };
  let isEnding = false;
  process.on("message", (message: ToSuccessor) => {
    if (message.type === "released") return resolve();
    if (message.type === "ending") return void (isEnding = true);
    drained();
    isEnding = false;
    process.disconnect();
  });
  // The process before has ended, and the kernel has released its locks and sockets.
  process.on("disconnect", () => {
    drained();
    if (isEnding) process.kill(process.pid, "SIGTERM");
  });
  // The process ends when it cannot start, although it listens here.
  process.channel?.unref();
  const say = (message: FromSuccessor): void => void process.send?.(message);
  return {
    sockets: (config) => createInheritedSockets(config, sockets, servesZones),
    loaded: async () => {
      process.channel?.ref();
      say({ type: "loaded" });
      await released;
      process.channel?.unref();
    },
    serving: () => {
      if (process.connected) say({ type: "serving" });
    },
    failed: async (reason) => {
      if (!process.connected) return;
      const message: FromSuccessor = { type: "failed", reason };
      await new Promise<void>((resolve) => process.send?.(message, () => resolve()));
    },
    eventsFree,
  };
}
