import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { eventually } from "../../test/support/eventually.ts";
import { createSlicedQueue } from "./sliced-queue.ts";

test("between two turns, what has arrived from the network is answered", async (t) => {
  const socket = createSocket("udp4");
  const { port1, port2 } = new MessageChannel();
  t.after(() => {
    socket.close();
    port1.close();
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const done: string[] = [];
  const queue = createSlicedQueue(250);
  const add = (name: string): void =>
    queue.add(
      () => 200,
      function* () {
        done.push(name);
        // Arrives at once, as a question would.
        socket.send(`question after ${name}`, socket.address().port, "127.0.0.1");
        yield;
        done.push(`rest of ${name}`);
      },
    );
  socket.on("message", (text) => void done.push(String(text)));
  // As deltas arrive.
  port2.on("message", add);
  for (const name of ["a", "b", "c"]) port1.postMessage(name);
  await eventually(() => done.length === 9);
  assert.deepEqual(
    done,
    ["a", "b", "c"].flatMap((name) => [name, `question after ${name}`, `rest of ${name}`]),
  );
});
