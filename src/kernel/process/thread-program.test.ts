import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { threadProgram } from "./thread-program.ts";

const saying = (word: string): string => `data:text/javascript,globalThis.said=(globalThis.said??"")+"${word}"`;
const THREAD = new URL('data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.postMessage(globalThis.said)');

test("a thread loads first what this one was told to load first, however that was said, and nothing else of the command line", async (t) => {
  const before = process.execArgv.slice();
  t.after(() => process.execArgv.splice(0, Infinity, ...before));
  process.execArgv.splice(0, Infinity, "--max-old-space-size=500", "--import", saying("a"), `--import=${saying("b")}`, "--expose-gc");
  const thread = new Worker(THREAD, threadProgram());
  assert.deepEqual(await once(thread, "message"), ["ab"]);
  process.execArgv.splice(0, Infinity, "--expose-gc");
  assert.deepEqual(threadProgram(), {});
});
