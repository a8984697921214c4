import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HANDED_OVER, type ToSuccessor } from "./take-over.ts";

const TAKE_OVER = new URL("./take-over.ts", import.meta.url).href;
const PROGRAM = `
  import { takeOverOf } from ${JSON.stringify(TAKE_OVER)};
  process.on("SIGTERM", () => process.exit(7));
  setTimeout(() => process.exit(8), 120_000);
  const takeOver = takeOverOf(process);
  process.on("disconnect", () => setImmediate(() => setImmediate(() => console.log("alone"))));
  takeOver.loaded().then(() => takeOver.serving());
`;

for (const { says, ends } of [
  { says: ["released", "ending"], ends: true },
  { says: ["released"], ends: false },
  { says: ["released", "ending", "drained"], ends: false },
] as const)
  test(`a process before that said ${says.join(", ")} and is gone: the one after it ${ends ? "ends" : "goes on"}`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "selvedge-take-over-"));
    t.after(() => rm(directory, { recursive: true }));
    const path = join(directory, "program.mjs");
    await writeFile(path, PROGRAM);
    const env = { ...process.env, [HANDED_OVER]: JSON.stringify({ sockets: [], servesZones: false }) };
    const child = fork(path, { env, stdio: ["ignore", "pipe", "inherit", "ipc"] });
    t.after(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    const isAlone = once(child.stdout!, "data");
    assert.deepEqual((await once(child, "message"))[0], { type: "loaded" });
    for (const type of says) await new Promise<void>((sent) => child.send({ type } satisfies ToSuccessor, () => sent()));
    if (child.connected && !says.includes("drained" as never)) {
      assert.deepEqual((await once(child, "message"))[0], { type: "serving" });
      child.disconnect();
    }
    if (ends) return void assert.deepEqual(await exited, [7, null]);
    await isAlone;
    assert.equal(child.exitCode, null);
  });
