import { parentPort, workerData } from "node:worker_threads";
import type { ThreadOptions, ThreadReply, ThreadRequest } from "./sqlite-thread.ts";
import { openSqlite } from "./sqlite.ts";

// The thread of sqlite-thread.ts.

const { path, mode } = workerData as ThreadOptions;
const session = openSqlite(path, mode);

parentPort?.on("message", ({ id, sql, parameters }: ThreadRequest) => {
  const reply = (answer: ThreadReply): void => parentPort?.postMessage(answer);
  session.query(sql, parameters).then(
    (rows) => reply({ id, rows }),
    (error: Error & { errcode?: unknown }) => reply({ id, message: error.message, errcode: error.errcode }),
  );
});
