import { parentPort, workerData } from "node:worker_threads";
import type { ScanReply, ScanRequest } from "./scan-thread.ts";
import { openSqlite } from "./sqlite.ts";

// The thread of scan-thread.ts: a connection that only reads.

const session = openSqlite(workerData as string, "read");

parentPort?.on("message", ({ id, sql, parameters }: ScanRequest) => {
  const reply = (answer: ScanReply): void => parentPort?.postMessage(answer);
  session.query(sql, parameters).then(
    (rows) => reply({ id, rows }),
    (error: Error & { errcode?: unknown }) => reply({ id, message: error.message, errcode: error.errcode }),
  );
});
