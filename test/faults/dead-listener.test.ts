import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { startPlaneWorker } from "#app/threads/plane-worker.ts";
import type { Log } from "#app/log/log.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { eventually } from "../support/eventually.ts";

const source = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);

/** Sends `alive` to every client, and fails at the first byte from any of them. */
const SCRIPT = `
  import { parentPort, workerData } from "node:worker_threads";
  import { createWorkerChannel } from ${source("kernel/process/worker-protocol.ts")};
  import { LoopListener } from ${source("wire/connections/epoll/loop-listener.ts")};
  import { loadSocketCalls } from ${source("wire/connections/epoll/socket-calls.ts")};
  import { SocketLoop } from ${source("wire/connections/epoll/socket-loop.ts")};
  const voice = createWorkerChannel(parentPort);
  const loop = new SocketLoop(await loadSocketCalls(), () => undefined);
  const listener = new LoopListener(loop, {
    address: { family: 4, bytes: Uint8Array.of(127, 0, 0, 1) },
    port: workerData.port,
    reusePort: true,
    backlog: 100,
    onConnection: (socket) => {
      socket.attach({
        onBytes: () => process.nextTick(() => { throw new Error("as the test wants"); }),
        onDrain() {}, onEnd() {}, onClosed() {},
      });
      socket.sendText("alive");
    },
  });
  voice.listening({ http: listener.port });
  parentPort.on("message", () => undefined);
`;

const calls = await loadSocketCalls();

test("a thread that dies closes its port and connections, and new clients reach its successor", { skip: calls === null }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-dead-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const script = join(directory, "worker.mjs");
  writeFileSync(script, SCRIPT);
  let restarts = 0;
  const worker = startPlaneWorker({
    name: "tested",
    script: pathToFileURL(script).href,
    log: { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log,
    connect: ({ http = 0 }) => ({ workerData: { port: http }, transfer: [] }),
    onRestart: () => restarts++,
  });
  t.after(() => worker.stop(0));
  const { http: port = 0 } = await worker.listening;

  const [waiting, deadly] = [await visitor(port), await visitor(port)];
  const ends = [waiting, deadly].map((socket) => once(socket, "close"));
  deadly.write("!");
  await Promise.all(ends);
  await eventually(() => restarts === 1);
  for (let visits = 0; visits < 20; visits++) (await visitor(port)).destroy();
});

/** A connection that has been answered. */
async function visitor(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const [bytes] = await once(socket, "data", { signal: AbortSignal.timeout(60_000) });
  assert.equal(String(bytes), "alive");
  return socket;
}
