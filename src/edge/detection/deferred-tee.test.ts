import assert from "node:assert/strict";
import { test } from "node:test";
import { runDeferredTasks, inOneTick } from "#kernel/process/tick-queue.ts";
import { DeferredTee, type DeferredTeeOptions } from "./deferred-tee.ts";

/** A turn without events. */
const inTurn = (work: () => void): void =>
  inOneTick(
    () => {
      work();
      return false;
    },
    () => false,
  );

function tapped(changes: Partial<DeferredTeeOptions> = {}) {
  const seen: string[] = [];
  const begin = () => {
    seen.push("begin");
    return {
      chunk: (bytes: Uint8Array, start: number, end: number) => void seen.push(Buffer.from(bytes.subarray(start, end)).toString()),
      last: (bytes: Uint8Array, start: number, end: number) =>
        void seen.push(`${Buffer.from(bytes.subarray(start, end)).toString()}, the last`),
      end: () => void seen.push("end"),
      abort: () => void seen.push("abort"),
    };
  };
  const report = (error: unknown): void => void seen.push(String(error));
  return { begin: () => new DeferredTee({ begin, report, ...changes }), seen };
}

const text = Buffer.from("one two three");
const other = Buffer.from("four");

test("outside a tick, the tee copies chunks in order and once when they are settled", () => {
  const { begin, seen } = tapped();
  const late = begin();
  late.chunk(text, 0, 3);
  late.chunk(text, 4, 7);
  assert.deepEqual(seen, []);
  late.settle();
  late.settle();
  assert.deepEqual(seen, ["begin", "one", "two"]);
  late.chunk(text, 8, 13);
  late.finish();
  assert.deepEqual(seen.slice(3), ["three, the last"]);
});

test("the tee ends a body that has no chunk, or whose last chunk it has copied", () => {
  for (const pieces of [0, 1]) {
    const { begin, seen } = tapped();
    const late = begin();
    if (pieces === 1) late.chunk(text, 0, 3);
    late.settle();
    late.finish();
    assert.deepEqual(seen, ["begin", ...["one"].slice(0, pieces), "end"]);
  }
});

test("the tee copies the sent chunks of a response before it reports that the response broke off", () => {
  const { begin, seen } = tapped();
  const late = begin();
  late.chunk(text, 0, 3);
  late.abort();
  assert.deepEqual(seen, ["begin", "one", "abort"]);
});

test("during a tick, the tee copies nothing before the tick ends, even if chunks are settled", () => {
  const { begin, seen } = tapped();
  inTurn(() => {
    const late = begin();
    late.settle();
    late.chunk(text, 0, 3);
    late.chunk(text, 4, 7);
    late.settle();
    late.finish();
    seen.push("sent");
  });
  assert.deepEqual(seen, ["sent", "begin", "one", "two, the last"]);
});

test("the tee copies the chunks of one buffer before those of another, and before sockets read again", () => {
  const { begin, seen } = tapped();
  inTurn(() => {
    const late = begin();
    late.chunk(text, 0, 3);
    late.chunk(other, 0, 4);
    seen.push("sent");
    runDeferredTasks();
    seen.push("read");
    late.chunk(text, 4, 7);
    late.finish();
    seen.push("sent");
  });
  assert.deepEqual(seen, ["begin", "one", "sent", "four", "read", "sent", "two, the last"]);
});

test("the tee reports a response that breaks off during a tick at once, and nothing later", () => {
  const { begin, seen } = tapped();
  inTurn(() => {
    const late = begin();
    late.chunk(text, 0, 3);
    late.abort();
    seen.push("gone");
  });
  assert.deepEqual(seen, ["begin", "one", "abort", "gone"]);
});

test("an error in the rules costs only the scan of that response", () => {
  const { begin, seen } = tapped({
    begin: () => {
      throw new Error("broken");
    },
  });
  inTurn(() => {
    const late = begin();
    late.chunk(text, 0, 3);
    late.finish();
    begin().finish();
  });
  assert.deepEqual(seen, ["Error: broken", "Error: broken"]);
});

test("the tee drops a body that no rule scans", () => {
  const { begin, seen } = tapped({
    begin: () => {
      seen.push("asked");
      return null;
    },
  });
  const late = begin();
  late.chunk(text, 0, 3);
  late.settle();
  late.chunk(text, 4, 7);
  late.finish();
  late.abort();
  assert.deepEqual(seen, ["asked"]);
});
