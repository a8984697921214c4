import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import type { MessagePort } from "node:worker_threads";
import type { SinkName } from "#kernel/process/worker-protocol.ts";
import type { Log } from "#app/log/log.ts";
import { type PlaneWorker, startPlaneWorker } from "#app/threads/plane-worker.ts";
import { type Bound, channel } from "#app/threads/thread-ports.ts";
import { eventually } from "../support/eventually.ts";

/** Behaviour of a thread; each of its starts finds the number of the start in `start`, beginning with 1. */
interface Scene {
  readonly worker: PlaneWorker;
  /** Arguments of `connect` at each start. */
  readonly connects: Bound[];
  readonly warnings: { readonly delay_ms: number }[];
  readonly restarts: () => number;
  starts(): number;
}

const PRELUDE = `
  import { appendFileSync, readFileSync } from "node:fs";
  import { parentPort as main, workerData } from "node:worker_threads";
  appendFileSync(workerData.counter, ".");
  const start = readFileSync(workerData.counter, "utf8").length;
  const say = (message) => main.postMessage(message);
  const die = () => { throw new Error("as the test wants"); };
`;

function stage(t: TestContext, script: string): Scene {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-worker-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [file, counter] = [join(directory, "worker.mjs"), join(directory, "starts")];
  writeFileSync(file, PRELUDE + script);
  writeFileSync(counter, "");
  const connects: Bound[] = [];
  const warnings: { delay_ms: number }[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (fields: { delay_ms: number }) => warnings.push(fields) } as unknown as Log;
  let restarts = 0;
  const worker = startPlaneWorker({
    name: "tested",
    script: pathToFileURL(file).href,
    log,
    connect: (bound) => {
      connects.push(bound);
      return { workerData: { counter }, transfer: [] };
    },
    onRestart: () => restarts++,
  });
  t.after(() => worker.stop(0));
  return { worker, connects, warnings, restarts: () => restarts, starts: () => readFileSync(counter, "utf8").length };
}

const LISTEN = `say({ type: "listening", addresses: { udp: 4000 + start } });`;
const STAY = `main.on("message", (message) => {
  if (message.type === "drain") { say({ type: "drained" }); main.close(); }
  if (message.type === "metrics") say({ type: "metrics", request: message.request, samples: [{ name: "start", value: start }] });
});`;
/** Dies once it is told to: what a thread has said right before it dies may be read after its death. */
const DIE_WHEN_TOLD = `main.on("message", (message) => message.type === "places" && die());`;
const tellToDie = (worker: PlaneWorker): void => worker.usePlaces([]);

test("a thread that dies restarts on its ports, and the other threads are notified", async (t) => {
  const { worker, connects, restarts } = stage(t, `${LISTEN} ${STAY} ${DIE_WHEN_TOLD}`);
  assert.deepEqual(await worker.listening, { udp: 4001 });
  tellToDie(worker);
  await eventually(() => restarts() === 1);
  assert.equal(worker.isUp(), true);
  assert.deepEqual(connects, [{}, { udp: 4001 }]);
  // A thread that has no turn for a second has no numbers.
  await eventually(async () => (await worker.metrics()).some(({ value }) => value === 2));
});

test("failed starts are repeated with growing delays", async (t) => {
  const { worker, warnings, restarts, starts } = stage(
    t,
    `if (start === 2) die(); if (start === 3) process.exit(0); ${LISTEN} ${STAY} ${DIE_WHEN_TOLD}`,
  );
  await worker.listening;
  tellToDie(worker);
  await eventually(() => restarts() === 1);
  tellToDie(worker);
  await eventually(() => starts() === 5 && restarts() === 2);
  assert.deepEqual(
    warnings.map(({ delay_ms }) => delay_ms),
    [100, 200, 400, 800],
    "a thread that listens and dies at once has not recovered",
  );
});

test("a failed first start is an error and is not repeated", async (t) => {
  for (const script of ["die();", "process.exit(0);", "await new Promise((resolve) => setTimeout(resolve, 1)); die();"]) {
    const { worker, starts, warnings } = stage(t, script);
    await assert.rejects(worker.listening);
    assert.equal(worker.isUp(), false);
    await worker.stop(0);
    assert.deepEqual([starts(), warnings], [1, []]);
  }
});

test("a stop waits for the drain or the timeout, and a thread that dies meanwhile is not restarted", async (t) => {
  const drains = stage(t, `${LISTEN} ${STAY}`);
  await drains.worker.listening;
  await drains.worker.stop(60_000);
  const dies = stage(t, `${LISTEN} main.on("message", die);`);
  await dies.worker.listening;
  await dies.worker.stop(60_000);
  const hangs = stage(t, `${LISTEN} main.on("message", () => { for (;;); });`);
  await hangs.worker.listening;
  await hangs.worker.stop(0);
  for (const { worker, starts, warnings } of [drains, dies, hangs]) {
    assert.equal(worker.isUp(), false);
    assert.deepEqual(await worker.metrics(), []);
    assert.deepEqual([starts(), warnings], [1, []]);
  }
});

test("a stop during a start waits until the thread listens and drains, and terminates a thread that never listens", async (t) => {
  const late = stage(t, `${STAY} setTimeout(() => { ${LISTEN} }, 200);`);
  const words: string[] = [];
  void late.worker.listening.then(() => words.push("listens"));
  await late.worker.stop(60_000).then(() => words.push("stopped"));
  assert.deepEqual(words, ["listens", "stopped"]);
  const never = stage(t, `await new Promise(() => setInterval(() => undefined, 1000));`);
  const failed = assert.rejects(never.worker.listening);
  await eventually(() => never.starts() === 1);
  await never.worker.stop(0);
  await failed;
  const dies = stage(t, `if (start === 2) await new Promise((resolve) => setTimeout(resolve, 200)); ${LISTEN} ${STAY} ${DIE_WHEN_TOLD}`);
  await dies.worker.listening;
  tellToDie(dies.worker);
  await eventually(() => dies.starts() === 2);
  await dies.worker.stop(60_000);
  assert.deepEqual([late.starts(), never.starts(), dies.starts()], [1, 1, 2]);
});

test("a thread that does not answer, or dies during the query, has no metrics", async (t) => {
  const silent = stage(t, `${LISTEN} main.on("message", () => {});`);
  await silent.worker.listening;
  assert.deepEqual(await silent.worker.metrics(), []);
  const dies = stage(t, `${LISTEN} main.on("message", () => { if (start === 1) die(); });`);
  await dies.worker.listening;
  assert.deepEqual(await dies.worker.metrics(), []);
});

test("senders are reconnected after their receiver restarts", async (t) => {
  const got = `main.on("message", ({ type, port }) => port?.on("message", (word) => say({ type: "log", level: "warn", fields: { delay_ms: word + start } })));`;
  const taker = stage(t, `${got} ${LISTEN} ${DIE_WHEN_TOLD}`);
  await taker.worker.listening;
  const send = (word: number): void => {
    const { near, far } = channel();
    taker.worker.attach(near);
    far.postMessage(word);
  };
  send(70);
  tellToDie(taker.worker);
  await eventually(() => taker.restarts() === 1);
  send(80);
  await eventually(() => taker.warnings.some(({ delay_ms }) => delay_ms === 82));

  const sender = stage(t, `main.on("message", ({ type, to, port }) => type === "reconnect" && port.postMessage(to)); ${LISTEN}`);
  await sender.worker.listening;
  const heard = (to: SinkName): Promise<unknown> => {
    const { near, far }: { near: MessagePort; far: MessagePort } = channel();
    sender.worker.reconnect(to, near);
    return new Promise((resolve) => far.once("message", (word) => (far.close(), resolve(word))));
  };
  assert.deepEqual(await Promise.all([heard("events"), heard("detector")]), ["events", "detector"]);
});
