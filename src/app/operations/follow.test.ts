import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const FOLLOW = new URL("./follow.ts", import.meta.url).href;
/** As a server at a hand-over: it has a listener, is busy when the signal arrives, and then follows the process with this PID. */
const server = (pid: number, signal: string): string => `
  import { follow } from ${JSON.stringify(FOLLOW)};
  process.on(${JSON.stringify(signal)}, () => process.stdout.write("mine "));
  setTimeout(() => {
    process.stdout.write("busy ");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    follow(${pid}).drained();
  }, 0);
  setTimeout(() => {}, 60_000);
`;

for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT"] as const)
  test(`${signal} that arrives just before a process follows another is passed on`, async (t) => {
    const program = `process.on(${JSON.stringify(signal)}, () => process.exit(7)); process.stdout.write("up"); setTimeout(() => {}, 60_000)`;
    const next = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => next.kill("SIGKILL"));
    const ended = once(next, "exit");
    await once(next.stdout, "data");
    const before = spawn(process.execPath, ["--input-type=module", "-e", server(next.pid ?? 0, signal)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => before.kill("SIGKILL"));
    await once(before.stdout, "data");
    before.kill(signal);
    assert.deepEqual(await ended, [7, null]);
  });
