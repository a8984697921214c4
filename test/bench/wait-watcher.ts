import { Worker } from "node:worker_threads";

/** The longest wait since the previous call, in milliseconds. */
export interface LongestWaits {
  readonly dns_ms: number;
  readonly read_ms: number;
  readonly write_ms: number;
}

/** Sends requests from a separate thread, so that the work of the benchmark itself is not measured. */
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

export function watchWaits(options: WaitWatcherOptions): WaitWatcher {
  const worker = new Worker(new URL("./wait-watcher-thread.ts", import.meta.url), { workerData: options });
  return {
    longest: () =>
      new Promise((resolve, reject) => {
        worker.once("message", (waits: LongestWaits) => {
          worker.off("error", reject);
          resolve(waits);
        });
        worker.once("error", reject);
        worker.postMessage("longest");
      }),
    stop: async () => void (await worker.terminate()),
  };
}
