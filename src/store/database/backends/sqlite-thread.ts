import { Worker } from "node:worker_threads";
import type { Rows } from "#store/queries/session.ts";
import type { SqliteMode } from "./sqlite.ts";

/** Runs slow queries in a thread with its own connection, because SQLite blocks the calling thread. */
export interface SqliteThread {
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

export interface ThreadOptions {
  readonly name: string;
  readonly path: string;
  readonly mode: Extract<SqliteMode, "checkpoint" | "read">;
}

/** `errcode` is SQLite's code, which structured cloning of an error would lose. */
export type ThreadReply =
  | { readonly id: number; readonly rows: Rows }
  | { readonly id: number; readonly message: string; readonly errcode: unknown };

export interface ThreadRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

interface Waiting {
  resolve(rows: Rows): void;
  reject(error: unknown): void;
}

/** The thread starts with the first query, and restarts with the next query after a crash. */
export function createSqliteThread(options: ThreadOptions): SqliteThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let next = 0;

  const settle = (reply: ThreadReply): void => {
    const one = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("rows" in reply) one?.resolve(reply.rows);
    else one?.reject(Object.assign(new Error(reply.message), { errcode: reply.errcode }));
    // The thread keeps the process alive only while queries are pending.
    if (waiting.size === 0) worker?.unref();
  };
  const start = (): Worker => {
    const thread = new Worker(new URL(import.meta.resolve("#store/database/backends/sqlite-worker.ts")), {
      name: options.name,
      workerData: options,
    });
    const fail = (error: unknown): void => {
      if (worker === thread) worker = null;
      for (const one of waiting.values()) one.reject(error);
      waiting.clear();
    };
    thread.on("message", settle);
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error(`the thread ${options.name} ended`)));
    return thread;
  };

  return {
    query: (sql, parameters) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        worker.ref();
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, sql, parameters } satisfies ThreadRequest);
      }),
    close: async () => void (await worker?.terminate()),
  };
}
