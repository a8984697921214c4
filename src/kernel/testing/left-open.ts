import { after } from "node:test";

/** Time for the test file's own hooks, in milliseconds. */
const GRACE_MS = 5_000;
const open = new Set<() => unknown>();

// A failed test may leave something open that keeps its file, and so the whole run, from ending. Benchmarks use the same servers.
if (process.env["NODE_TEST_CONTEXT"] !== undefined || process.execArgv.includes("--test")) {
  after(() => {
    setTimeout(() => {
      for (const close of open) close();
    }, GRACE_MS).unref();
  });
}

/** Wraps `close`: if nobody calls it, it runs after the tests of the file. */
export function closedInTheEnd<R>(close: (timeoutMs?: number) => R): (timeoutMs?: number) => R {
  const once = (timeoutMs?: number): R => {
    open.delete(once);
    return close(timeoutMs);
  };
  open.add(once);
  return once;
}
