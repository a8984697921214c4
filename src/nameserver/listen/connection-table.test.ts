import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { clientOf } from "#nameserver/message/client.ts";
import { createConnectionTable } from "./connection-table.ts";

const LIMIT = 4;
const PER_SUBSCRIBER = 2;

function setUp() {
  const table = createConnectionTable(LIMIT, PER_SUBSCRIBER);
  const sockets = new Map<string, Socket>();
  const busy = new Set<string>();
  const client = (name: string) => {
    const [address, port] = name.split("#");
    return clientOf("tcp", address, Number(port));
  };
  return {
    table,
    busy,
    admit: (name: string): boolean => {
      const socket = new Socket();
      const admitted = table.admit(socket, client(name));
      if (admitted) sockets.set(name, socket);
      table.serve(client(name), () => busy.has(name));
      return admitted;
    },
    touch: (name: string) => table.touch(client(name)),
    close: async (name: string): Promise<void> => {
      const socket = sockets.get(name) as Socket;
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.destroy();
      await closed;
    },
    open: (): string[] => [...sockets].filter(([, socket]) => !socket.destroyed).map(([name]) => name),
  };
}

test("a subscriber gets at most its share of connections, and a new one takes the place of its own that has been idle longest", () => {
  const { admit, touch, open } = setUp();
  for (const name of ["192.0.2.1#1", "192.0.2.1#2", "2001:db8::1#1", "2001:db8::2#1"]) assert.ok(admit(name));
  touch("192.0.2.1#1");
  assert.ok(admit("192.0.2.1#3"));
  assert.deepEqual(open(), ["192.0.2.1#1", "2001:db8::1#1", "2001:db8::2#1", "192.0.2.1#3"]);
  // All places are taken, but it is its own share that is used up: nobody else has to go for it.
  assert.ok(admit("2001:db8::3#1"));
  assert.deepEqual(open(), ["192.0.2.1#1", "2001:db8::2#1", "192.0.2.1#3", "2001:db8::3#1"]);
});

test("a connection that waits for an answer is not closed for a new one of its subscriber", async () => {
  const { admit, busy, close, open } = setUp();
  for (const name of ["192.0.2.1#1", "192.0.2.1#2"]) assert.ok(admit(name));
  busy.add("192.0.2.1#1");
  assert.ok(admit("192.0.2.1#3"));
  assert.deepEqual(open(), ["192.0.2.1#1", "192.0.2.1#3"]);
  busy.add("192.0.2.1#3");
  assert.equal(admit("192.0.2.1#4"), false);
  assert.ok(admit("192.0.2.2#1") && admit("192.0.2.3#1"));
  // With all places taken, any idle connection is closed before a busy one.
  assert.ok(admit("192.0.2.4#1"));
  assert.deepEqual(open(), ["192.0.2.1#1", "192.0.2.1#3", "192.0.2.3#1", "192.0.2.4#1"]);
  await close("192.0.2.1#1");
  assert.ok(admit("192.0.2.1#5"));
});

test("if all places are taken, the connection that has been idle longest is closed", () => {
  const { admit, touch, open } = setUp();
  for (const name of ["192.0.2.1#1", "192.0.2.2#1", "192.0.2.3#1", "192.0.2.4#1"]) assert.ok(admit(name));
  touch("192.0.2.1#1");
  assert.ok(admit("192.0.2.5#1"));
  assert.deepEqual(open(), ["192.0.2.1#1", "192.0.2.3#1", "192.0.2.4#1", "192.0.2.5#1"]);
  assert.ok(admit("192.0.2.6#1"));
  assert.deepEqual(open(), ["192.0.2.1#1", "192.0.2.4#1", "192.0.2.5#1", "192.0.2.6#1"]);
});

test("the table counts connections exactly, whether they close, are replaced, or reuse a port", async () => {
  const { admit, close, open, table } = setUp();
  for (let round = 0; round < 50; round++) {
    for (let host = 1; host <= 6; host++) assert.ok(admit(`192.0.2.${host}#${round % 3}`), `${round} ${host}`);
    if (round % 2 === 0) for (const name of open()) await close(name);
    // Displaced connections report their end later.
    await new Promise(setImmediate);
  }
  table.destroyAll();
  await new Promise(setImmediate);
  assert.deepEqual(open(), []);
  for (let host = 1; host <= LIMIT; host++) assert.ok(admit(`198.51.100.${host}#1`));
  assert.equal(open().length, LIMIT);
});
