import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { selfSigned } from "#wire/connections/testing/secure.ts";
import { socketCalls } from "#wire/connections/testing/transports.ts";

const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

const ROUNDS = 5;

/** Ends one thread after the other in the middle of its work, at different moments. */
const PROGRAM = `
  import { once } from "node:events";
  import { connect } from "node:tls";
  import { Worker } from "node:worker_threads";
  const { work, chain, privateKey } = JSON.parse(process.env.SCENE);
  for (let round = 0; round < ${ROUNDS}; round++) {
    const thread = new Worker(new URL(${here("./testing/ended-thread.ts")}), {
      execArgv: [],
      workerData: { work, chain, privateKey: Buffer.from(privateKey, "latin1") },
    });
    const [port] = await once(thread, "message");
    let handshakes = 0;
    let isOver = false;
    const visit = () => {
      const socket = connect({ port, host: "127.0.0.1", servername: "www.example.com", ALPNProtocols: ["h2"], rejectUnauthorized: false });
      socket.on("error", () => undefined).on("secureConnect", () => handshakes++);
      if (work === "handshakes") socket.on("close", () => isOver || visit());
      return socket;
    };
    const visitors = Array.from({ length: work === "handshakes" ? 8 : 1 }, visit);
    if (work === "handshakes") while (handshakes < 4) await new Promise((done) => setTimeout(done, 1));
    else await once(thread, "message");
    await new Promise((done) => setTimeout(done, 25 + 5 * round));
    isOver = true;
    await thread.terminate();
    for (const visitor of visitors) visitor.destroy();
  }
  process.exit(0);
`;

for (const work of ["handshakes", "agreed", "reads", "writes", "connections", "contexts"]) {
  test(`the process survives threads that end during ${work} of TLS`, { skip: (socketCalls?.secure ?? null) === null }, async () => {
    const { chain, privateKey } = await selfSigned();
    const scene = JSON.stringify({ work, chain, privateKey: privateKey.toString("latin1") });
    const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
      encoding: "utf8",
      env: { ...process.env, SCENE: scene },
      timeout: 120_000,
    });
    assert.deepEqual([status, signal], [0, null], stderr);
  });
}
