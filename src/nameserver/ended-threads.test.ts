import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";

const skip = (await loadSystemSockets()) === undefined && "koffi does not load here";

const ROUNDS = 30;

/** Ends one thread after the other during datagrams, at varying moments. */
const PROGRAM = `
  import { createSocket } from "node:dgram";
  import { once } from "node:events";
  import { Worker } from "node:worker_threads";
  const client = createSocket("udp4").bind(0, "127.0.0.1");
  let answers = 0;
  client.on("message", () => answers++);
  await once(client, "listening");
  for (let round = 0; round < ${ROUNDS}; round++) {
    const thread = new Worker(new URL(${JSON.stringify(new URL("./testing/ended-thread.ts", import.meta.url).href)}), { execArgv: [] });
    const [port] = await once(thread, "message");
    answers = 0;
    let isOver = false;
    const ask = () => {
      if (isOver) return;
      for (let n = 0; n < 1 + (round % 3) * 20; n++) client.send(Buffer.alloc(12, n), port, "127.0.0.1");
      setImmediate(ask);
    };
    ask();
    while (answers < 20) await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => setTimeout(done, round % 7));
    await thread.terminate();
    isOver = true;
  }
  process.exit(0);
`;

test("the process survives threads that end during datagrams", { skip }, () => {
  const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.deepEqual([status, signal], [0, null], stderr);
});
