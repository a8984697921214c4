import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { PrestartedThreadData } from "#kernel/process/worker-bootstrap.ts";
import type { Role } from "#app/config/roles.ts";
import { threadLimits } from "./thread-limits.ts";

/** A thread that is loading its program and waits for its task. */
export interface PrestartedThread {
  readonly worker: Worker;
  /** Must be called once, with the content of `workerData`. */
  begin(workerData: object, transfer: readonly MessagePort[]): void;
}

export interface PrestartedThreads {
  /** The thread of this name; undefined if it does not exist or has been taken. */
  take(name: string): PrestartedThread | undefined;
  /** Ends the threads that were not taken. */
  dismiss(): Promise<void>;
}

/**
 * The threads that start with a server of these roles, those with the most to load first. `has`: what the planes have to
 * serve; a plane without anything starts later.
 */
export const prestartPrograms = (
  has: { readonly zones: boolean; readonly gateways: boolean },
  roles: readonly Role[],
): Readonly<Record<string, string>> => ({
  ...(has.zones && roles.includes("edge") ? { "edge-1": import.meta.resolve("#edge/worker.ts") } : {}),
  ...(has.gateways && roles.includes("gateway") ? { gateway: import.meta.resolve("#gateway/worker.ts") } : {}),
  ...(has.zones && roles.includes("nameserver") ? { "nameserver-1": import.meta.resolve("#nameserver/worker.ts") } : {}),
  events: import.meta.resolve("#events/write/writer.ts"),
});

/**
 * Loading the program is most of a start. Therefore the planes' threads load theirs while the main thread loads its own:
 * no more at once than the machine has cores besides the main thread's, because that thread has the most to load.
 */
export function prestartThreads(programs: Readonly<Record<string, string>>): PrestartedThreads {
  const loaded = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const atOnce = Math.max(1, availableParallelism() - 1);
  const waiting = new Map<string, PrestartedThread>();
  Object.entries(programs).forEach(([name, script], index) => {
    const thread = startEarly(name, { script, loaded, turn: Math.max(0, index + 1 - atOnce) });
    waiting.set(name, thread);
    // The later start creates a new one, and reports why that fails.
    thread.worker.once("error", () => waiting.delete(name));
  });
  return {
    take: (name) => {
      const thread = waiting.get(name);
      waiting.delete(name);
      return thread;
    },
    dismiss: async () => {
      const left = [...waiting.values()];
      waiting.clear();
      await Promise.all(left.map(({ worker }) => worker.terminate()));
    },
  };
}

function startEarly(name: string, plan: Omit<PrestartedThreadData, "work">): PrestartedThread {
  const { port1: near, port2: work } = new MessageChannel();
  const worker = new Worker(new URL(import.meta.resolve("#app/threads/prestarted-thread.ts")), {
    name,
    workerData: { ...plan, work } satisfies PrestartedThreadData,
    transferList: [work],
    resourceLimits: threadLimits(name),
  });
  return { worker, begin: (workerData, transfer) => near.postMessage(workerData, [...transfer]) };
}
