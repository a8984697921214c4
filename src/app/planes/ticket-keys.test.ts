import assert from "node:assert/strict";
import { test } from "node:test";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import { createTicketKeyRing } from "./ticket-keys.ts";

test("a new ticket key becomes the newest, and the former one stays for one period", async () => {
  const seen: TicketKeys[] = [];
  const ring = await new Promise<ReturnType<typeof createTicketKeyRing>>((resolve) => {
    const made = createTicketKeyRing((keys) => {
      seen.push(keys);
      if (seen.length === 3) resolve(made);
    }, 1);
    seen.push(made.keys());
    // The ring alone does not keep a program running.
    setImmediate(function wait() {
      if (seen.length < 3) setImmediate(wait);
    });
  });
  ring.stop();
  const [first = [], second = [], third = []] = seen;
  assert.deepEqual([first.length, second.length, third.length], [1, 2, 2]);
  assert.deepEqual([second[1], third[1]], [first[0], second[0]]);
  assert.equal(new Set([first[0], second[0], third[0]].map((key) => Buffer.from(key ?? []).toString("hex"))).size, 3);
  for (const key of third) assert.equal(key.length, 48);
});
