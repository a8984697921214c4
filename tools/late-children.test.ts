import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { eventually } from "../test/support/eventually.ts";
import { endLateChildren } from "./late-children.ts";

/** Has a child that has one itself, and says which numbers they have. */
const PARENT = `
  const { spawn } = require("node:child_process");
  const { createInterface } = require("node:readline");
  const child = spawn("sh", ["-c", "sleep 600 & echo $!; wait"], { stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout }).once("line", (line) => console.log(child.pid + " " + line));
  child.on("exit", (_, signal) => console.log(signal));
  process.stdin.resume().on("end", () => process.exit());
`;

/** Whether it runs; one that has ended may stand in the list until somebody asks for how (proc(5), Z). */
const isThere = (pid: number): boolean => {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

test(
  "a child that runs too long is killed with its children, and its parent continues",
  { skip: process.platform !== "linux" },
  async (t) => {
    const parent = spawn(process.execPath, ["-e", PARENT], { stdio: ["pipe", "pipe", "inherit"] });
    t.after(() => parent.kill("SIGKILL"));
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    const [child, grandchild] = ((await lines.next()).value as string).split(" ").map(Number) as [number, number];
    t.after(() => isThere(grandchild) && process.kill(grandchild, "SIGKILL"));
    const told: number[] = [];
    const late = endLateChildren(parent.pid!, 50, (pid) => told.push(pid));
    assert.equal((await lines.next()).value, "SIGKILL");
    await eventually(() => !isThere(grandchild));
    late.stop();
    assert.ok(told.length > 0 && told.every((pid) => pid === child));
    const ended = once(parent, "exit");
    parent.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  },
);
