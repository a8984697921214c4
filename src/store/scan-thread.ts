import { Worker } from "node:worker_threads";
import type { Rows } from "./session.ts";

/** Runs queries that may read a whole zone in a thread of their own: SQLite works in the thread that calls it. */
export interface ScanThread {
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

export interface ScanRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** `errcode` is SQLite's, which a cloned error would lose. */
export type ScanReply =
  | { readonly id: number; readonly rows: Rows }
  | { readonly id: number; readonly message: string; readonly errcode: unknown };

interface Waiting {
  resolve(rows: Rows): void;
  reject(error: unknown): void;
}

/** The thread starts with the first query, and again with the next one after it died. */
export function createScanThread(path: string): ScanThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let next = 0;

  const settle = (reply: ScanReply): void => {
    const one = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("rows" in reply) one?.resolve(reply.rows);
    else one?.reject(Object.assign(new Error(reply.message), { errcode: reply.errcode }));
    // Only while somebody waits does the thread keep the process alive.
    if (waiting.size === 0) worker?.unref();
  };
  const start = (): Worker => {
    const thread = new Worker(new URL("./scan-worker.ts", import.meta.url), { name: "store-scan", workerData: path });
    const fail = (error: unknown): void => {
      if (worker === thread) worker = null;
      for (const one of waiting.values()) one.reject(error);
      waiting.clear();
    };
    thread.on("message", settle);
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error("the thread that scans the database ended")));
    return thread;
  };

  return {
    query: (sql, parameters) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        worker.ref();
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, sql, parameters } satisfies ScanRequest);
      }),
    close: async () => void (await worker?.terminate()),
  };
}
