import assert from "node:assert/strict";
import { test } from "node:test";
import { startPlaneWorker } from "./plane-worker.ts";
import { prestartThreads } from "./prestart.ts";
import type { Log } from "#app/log/log.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

const given = new URL("../../kernel/process/worker-bootstrap.ts", import.meta.url).href;
/** A thread that says as its port what it was given. */
const echo = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads";
  import { workOfThread } from "${given}";
  const { port } = await workOfThread();
  parentPort.on("message", ({ type }) => type === "drain" && parentPort.close());
  parentPort.postMessage({ type: "listening", addresses: { http: port } });
`)}`;

const startPlane = (name: string, early: ReturnType<typeof prestartThreads>, port: number) =>
  startPlaneWorker({ name, script: echo, log, early, connect: () => ({ workerData: { port }, transfer: [] }) });

test("a plane takes its prestarted thread once, others start new ones, and unused ones are ended", async (t) => {
  const early = prestartThreads({ first: echo, second: echo, third: echo });
  t.after(() => early.dismiss());
  const first = startPlane("first", early, 1);
  const again = startPlane("first", early, 2);
  const stranger = startPlane("stranger", early, 3);
  t.after(() => Promise.all([first, again, stranger].map((worker) => worker.stop(0))));
  assert.deepEqual(await Promise.all([first.listening, again.listening, stranger.listening]), [{ http: 1 }, { http: 2 }, { http: 3 }]);
  assert.equal(early.take("first"), undefined);
  await early.dismiss();
  assert.equal(early.take("second"), undefined);
});

test("a thread that fails to load does not delay others, and its plane reports the reason", async (t) => {
  const broken = "data:text/javascript,throw new Error('no such program')";
  const early = prestartThreads({ broken, sound: echo });
  t.after(() => early.dismiss());
  const sound = startPlane("sound", early, 5);
  t.after(() => sound.stop(0));
  assert.deepEqual(await sound.listening, { http: 5 });
  const plane = startPlaneWorker({
    name: "broken",
    script: broken,
    log,
    early,
    connect: () => ({ workerData: {}, transfer: [] }),
  });
  await assert.rejects(plane.listening, /no such program/);
});
