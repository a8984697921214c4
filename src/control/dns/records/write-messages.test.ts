import assert from "node:assert/strict";
import { Socket } from "node:net";
import { controlOver } from "../../../../test/support/control.ts";
import { storeTest } from "../../../../test/support/store.ts";

/** How often sockets are written to meanwhile; each write is a system call here, and mostly a round trip of the database's server. */
async function socketWrites(work: () => Promise<unknown>): Promise<number> {
  const prototype = Socket.prototype as unknown as Record<"_write" | "_writev", (...args: unknown[]) => unknown>;
  const { _write, _writev } = prototype;
  let count = 0;
  const counted = (write: typeof _write) =>
    function (this: unknown, ...args: unknown[]): unknown {
      count++;
      return write.apply(this, args);
    };
  Object.assign(prototype, { _write: counted(_write), _writev: counted(_writev) });
  try {
    await work();
  } finally {
    Object.assign(prototype, { _write, _writev });
  }
  return count;
}

storeTest("a record is created with four messages to a PostgreSQL server, edited or deleted with five", async ({ store, dialect }) => {
  const { control, account_id, call } = await controlOver(store);
  const created = await control.zones.create(call(), { name: "example.test", account: { id: account_id } });
  const zone = { id: created.id, name: created.name, account_id, plan: "free" };
  const { dnsRecords: records } = control;
  const { history } = await store.position();
  let id = "";
  // The work that follows the creation of a zone is over, and connections are open.
  await records.create(call(), zone, { type: "A", name: "first", content: "192.0.2.1" });
  const steps = {
    create: async () => ({ id } = await records.create(call(), zone, { type: "A", name: "www", content: "192.0.2.1" })),
    edit: () => records.edit(call(), zone, id, { content: "192.0.2.2" }),
    delete: () => records.delete(call(), zone, id),
  };
  /** The fewest of several rounds: duties may run meanwhile. */
  const fewest: Record<string, number> = {};
  for (let round = 0; round < 5; round++) {
    for (const [name, step] of Object.entries(steps)) {
      const before = await store.revision();
      const count = await socketWrites(async () => {
        await step();
        // The changes for the planes are in memory.
        assert.equal((await store.changesSince(before, 10, history))?.length, 1);
      });
      fewest[name] = Math.min(count, fewest[name] ?? count);
    }
  }
  assert.deepEqual(fewest, dialect === "sqlite" ? { create: 0, edit: 0, delete: 0 } : { create: 4, edit: 5, delete: 5 });
});
