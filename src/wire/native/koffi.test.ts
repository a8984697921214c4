import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** Watches a descriptor and is ended while it does. */
const THREAD = `
  import { openSync } from "node:fs";
  import { parentPort } from "node:worker_threads";
  import { loadSocketCalls } from ${here("../connections/epoll/socket-calls.ts")};
  const calls = await loadSocketCalls();
  if (calls !== null) {
    const epoll = calls.epollCreate();
    calls.wakeUp(epoll);
  }
  parentPort.postMessage("watching");
`;

/** Only the threads of this program use koffi. */
const PROGRAM = `
  import { once } from "node:events";
  import { Worker } from "node:worker_threads";
  for (let i = 0; i < 3; i++) {
    const thread = new Worker(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(THREAD)})));
    await once(thread, "message");
    await thread.terminate();
  }
`;

test("the process survives threads that end while they watch descriptors, including the last one", () => {
  const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.deepEqual([status, signal], [0, null], stderr);
});

test("koffi loads from a folder whose name has characters beyond ASCII", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "größe ü-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(import.meta.dirname, "../../..");
  for (const file of ["src/wire/native/koffi.ts", "src/kernel/process/native-transport.ts", "package.json"])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  for (const name of ["koffi", ...readdirSync(join(root, "node_modules/@koromix")).map((each) => `@koromix/${each}`)])
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), { recursive: true, dereference: true });
  const program = `import { loadKoffi } from "./src/wire/native/koffi.ts"; console.log(typeof (await loadKoffi()).load);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" });
  assert.equal(stdout, "function\n", stderr);
});
