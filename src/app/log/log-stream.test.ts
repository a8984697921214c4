import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const program = `
  import { createLogStream } from ${JSON.stringify(import.meta.resolve("./log-stream.ts"))};
  const stream = createLogStream(2);
  for (let i = 0; i < 1000; i++) stream.write(i + "\\n");
  if (process.argv[1] === "exit") process.exit(0);
  setTimeout(() => stream.write("last\\n"), 50);
`;
const run = (stderr: "pipe" | number, ...args: string[]) =>
  spawn(process.execPath, ["--input-type=module", "--eval", program, ...args], { stdio: ["ignore", "ignore", stderr] });

test("lines are written in order, and pending ones are written before the process ends", async () => {
  const child = run("pipe");
  const lines = (await text(child.stderr!)).split("\n");
  assert.deepEqual(lines, [...Array.from({ length: 1000 }, (_, i) => String(i)), "last", ""]);
  const ending = run("pipe", "exit");
  const [written, [code]] = await Promise.all([text(ending.stderr!), once(ending, "exit") as Promise<[number]>]);
  assert.equal(code, 0);
  // The system may be writing the first line while the process ends, and then it comes last.
  const inOrder = written
    .split("\n")
    .filter(Boolean)
    .map(Number)
    .toSorted((a, b) => a - b);
  assert.deepEqual(
    inOrder,
    Array.from({ length: 1000 }, (_, i) => i),
  );
});

test("neither a full disk nor a closed pipe ends the process or blocks its end", async (t) => {
  const full = run(openSync("/dev/full", "w"));
  t.after(() => full.kill("SIGKILL"));
  assert.deepEqual(await once(full, "exit"), [0, null]);
  const left = run("pipe");
  t.after(() => left.kill("SIGKILL"));
  left.stderr!.destroy();
  assert.deepEqual(await once(left, "exit"), [0, null]);
});
