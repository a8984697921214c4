import { after } from "node:test";

/** For what the file's own hooks still do. */
const GRACE_MS = 5_000;
const open = new Set<() => unknown>();

// A test that fails may leave open what would keep its file, and so the whole run, from ending. Benches use the same servers.
if (process.env["NODE_TEST_CONTEXT"] !== undefined || process.execArgv.includes("--test")) {
  after(() => {
    setTimeout(() => {
      for (const close of open) close();
    }, GRACE_MS).unref();
  });
}

/** The same function; where nobody calls it, that is done once the tests of the file are over. */
export function closedInTheEnd<R>(close: (timeoutMs?: number) => R): (timeoutMs?: number) => R {
  const once = (timeoutMs?: number): R => {
    open.delete(once);
    return close(timeoutMs);
  };
  open.add(once);
  return once;
}
