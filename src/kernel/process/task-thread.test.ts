import assert from "node:assert/strict";
import { test } from "node:test";
import { createTaskThread, TaskRefused, type TaskThread } from "./task-thread.ts";

const LIMITS = { waitingMax: 3, answerMs: 60_000, quietMs: 60_000, heapMegabytesMax: 64 };

const threadWith = (limits: Partial<typeof LIMITS> = {}): TaskThread<string, string> =>
  createTaskThread({ name: "tasks", script: import.meta.resolve("#kernel/testing/task-thread-program.ts"), ...LIMITS, ...limits });

const taskOf = (answer: string): string | undefined => answer.split(" ")[0];

test("owners take turns, however many tasks each has sent", async () => {
  const { run } = threadWith();
  const order: (string | undefined)[] = [];
  const kept = (answer: string): unknown => order.push(taskOf(answer));
  await Promise.all([
    ...["a1", "a2", "a3"].map((task) => run("a", task).then(kept)),
    ...["b1", "b2"].map((task) => run("b", task).then(kept)),
  ]);
  assert.deepEqual(order, ["a1", "a2", "b1", "a3", "b2"]);
});

test("an owner with too many waiting tasks is refused, and others are not", async () => {
  const { run } = threadWith();
  const tasks = ["1", "2", "3", "4"].map((task) => run("a", task));
  await assert.rejects(run("a", "5"), TaskRefused);
  assert.equal(taskOf(await run("b", "6")), "6");
  await Promise.all(tasks);
  assert.equal(taskOf(await run("a", "7")), "7", "places are free again");
});

for (const [task, ending] of [
  ["end", "ends"],
  ["fail", "throws an error"],
  ["stall", "takes too long"],
] as const)
  test(`a task whose thread ${ending} is refused, and the next one gets another thread`, async () => {
    const { run } = threadWith(task === "stall" ? { answerMs: 1000 } : {});
    const before = (await run("a", "1")).split(" ")[1];
    const refused = assert.rejects(run("a", task), TaskRefused);
    const after = await run("b", "2");
    await refused;
    assert.notEqual(after.split(" ")[1], before);
  });

test("a thread without work ends", async () => {
  const { run } = threadWith({ quietMs: 1 });
  const before = (await run("a", "1")).split(" ")[1];
  // Longer than the quiet time, in which the timer for it must fire.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.notEqual((await run("a", "2")).split(" ")[1], before);
});
