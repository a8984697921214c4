import { Worker } from "node:worker_threads";

/** The longest waits since the previous call, in milliseconds. */
export interface LongestWaits {
  readonly dns_ms: number;
  /** Without the time that the questioner itself waited for a CPU, some of it perhaps before the answer was there: too low rather than too high. */
  readonly dns_alone_ms: number;
  readonly read_ms: number;
  readonly write_ms: number;
}

/** Sends requests from separate threads, so that the work of the benchmark itself is not measured. */
export interface WaitWatcher {
  longest(): Promise<LongestWaits>;
  stop(): Promise<void>;
}

export interface WaitWatcherOptions {
  /** Port of a nameserver on this machine, and a name that it has an address for. */
  readonly dns: { readonly port: number; readonly name: string };
  /** The records of a zone in the API: one client repeatedly reads `record`, and another one creates records. Absent: neither. */
  readonly api?: { readonly url: string; readonly record: string; readonly headers: Readonly<Record<string, string>> };
}

/** The part that one thread watches. */
export type WatchedPart = Partial<WaitWatcherOptions>;

export function watchWaits({ dns, api }: WaitWatcherOptions): WaitWatcher {
  // The DNS client has a thread to itself: its wait for a CPU is then that of the answer, and not of another request's.
  const asker = startWatcher({ dns });
  const caller = startWatcher(api ? { api } : {});
  return {
    longest: async () => {
      const [asked, called] = await Promise.all([longestOf(asker), longestOf(caller)]);
      return { ...called, dns_ms: asked.dns_ms, dns_alone_ms: asked.dns_alone_ms };
    },
    stop: async () => void (await Promise.all([asker.terminate(), caller.terminate()])),
  };
}

const startWatcher = (workerData: WatchedPart): Worker => new Worker(new URL("./wait-watcher-thread.ts", import.meta.url), { workerData });

const longestOf = (worker: Worker): Promise<LongestWaits> =>
  new Promise((resolve, reject) => {
    worker.once("message", (waits: LongestWaits) => {
      worker.off("error", reject);
      resolve(waits);
    });
    worker.once("error", reject);
    worker.postMessage("longest");
  });
