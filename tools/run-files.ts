import { createWriteStream } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import fileResults from "./file-results.ts";

/**
 * `node tools/run-files.ts CONCURRENCY TIMEOUT-MS RESULTS FILE…` runs each file in a process and starts them in this order;
 * `node --test` starts them by name, and a long one that starts last keeps a core idle.
 */
const [concurrency, timeout, results = "", ...files] = process.argv.slice(2);
const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());
const events = run({ files, concurrency: Number(concurrency), timeout: Number(timeout), signal: stopped.signal });
events.on("test:fail", () => {
  process.exitCode = 1;
});
events.compose(fileResults).pipe(createWriteStream(results));
events.compose(new spec()).pipe(process.stdout);
