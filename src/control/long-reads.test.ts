import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import type { Reader } from "#control/call.ts";
import { createLongReads } from "./long-reads.ts";

const LIMITS = { placesMax: 4, share: 1 / 2, waitingMax: 2, heldMs: 60_000 };

async function* numbers(ended: () => void): AsyncGenerator<number, undefined> {
  try {
    yield 1;
    yield 2;
  } finally {
    ended();
  }
  return undefined;
}

test("an account has some of the places, others have the rest, and those that wait take turns", async () => {
  const reads = createLongReads(LIMITS);
  const order: string[] = [];
  const begin = async (account: string): Promise<() => void> => {
    const { release } = await reads.begin(account);
    order.push(account);
    return release;
  };
  const [first] = await Promise.all([begin("a"), begin("a")]);
  const waits = [begin("a"), begin("a")];
  const others = await Promise.all([begin("b"), begin("c")]);
  assert.deepEqual(order, ["a", "a", "b", "c"], "the third of an account waits, and others do not");
  const late = begin("d");
  await assert.rejects(reads.begin("a"), { errorName: "long_reads_busy" });
  first!();
  first!();
  (await late)();
  assert.equal(order[4], "d", "the one that holds nothing comes first, and a place is given back once");
  for (const release of others) release();
  for (const wait of waits) (await wait)();
  assert.equal(order.length, 7);
});

for (const leaves of ["at its end", "early", "before the first part"] as const)
  test(`a reader that leaves ${leaves} gives its place back`, async () => {
    const reads = createLongReads({ ...LIMITS, placesMax: 1 });
    let isEnded = false;
    const parts = reads.parts(
      await reads.begin("a"),
      numbers(() => (isEnded = true)),
    );
    if (leaves === "before the first part") await parts.return?.();
    else
      for await (const part of parts) {
        if (leaves === "early" && part === 1) break;
      }
    assert.equal(isEnded, leaves !== "before the first part");
    (await reads.begin("b")).release();
  });

test("a reader that is too slow loses its place, and gets an error instead of the rest", async () => {
  const reads = createLongReads({ ...LIMITS, placesMax: 1, heldMs: 1 });
  const events = new EventEmitter();
  const ended = once(events, "end");
  const parts = reads.parts(
    await reads.begin("a"),
    numbers(() => events.emit("end")),
  );
  await parts.next();
  // The timer does not hold the process.
  const alive = setInterval(() => {}, 1_000);
  await ended;
  clearInterval(alive);
  (await reads.begin("b")).release();
  await assert.rejects(parts.next(), { errorName: "long_reads_busy" });
});

test("a reader that leaves while it waits counts no longer, and one that has a place goes no further", async () => {
  const reads = createLongReads({ ...LIMITS, placesMax: 1, waitingMax: 2 });
  const clients = Array.from({ length: 4 }, () => new EventEmitter());
  const reader = (n: number): Reader => ({ onLeft: (tell) => void clients[n]!.once("close", tell) });
  const first = await reads.begin("a", reader(0));
  first.check();
  const gone = [reads.begin("a", reader(1)), reads.begin("a", reader(2))];
  const refused = gone.map((wait) => assert.rejects(wait, { errorName: "long_reads_busy" }));
  clients[1]!.emit("close");
  clients[2]!.emit("close");
  await Promise.all(refused);
  const last = reads.begin("a", reader(3));
  clients[0]!.emit("close");
  assert.throws(() => first.check(), { errorName: "long_reads_busy" });
  first.release();
  (await last).check();
});
