import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { eventually, settled } from "../../../../test/support/eventually.ts";
import { fc } from "../../../../test/support/property.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { LoopListener } from "./loop-listener.ts";
import { dialThroughLoop, type LoopSocket } from "./loop-socket.ts";
import { SLOT_BYTES } from "#wire/connections/buffers/buffer-slots.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import type { SocketCalls } from "./socket-calls.ts";
import { SocketLoop } from "./socket-loop.ts";
import { createEar, type Ear, inTickOf, socketCalls } from "#wire/connections/testing/transports.ts";
import type { TransportHandler } from "#wire/connections/transport/transport.ts";
import { afterSends } from "#kernel/process/tick-queue.ts";
import { skipWithoutIpv6 } from "../../../../test/support/ipv6.ts";

const skip = socketCalls === null;
const HOST = parseIp("127.0.0.1")!;

interface Stage {
  readonly loop: SocketLoop;
  readonly listener: LoopListener;
  readonly accepted: LoopSocket[];
  readonly errors: unknown[];
}

/** A loop with a port that it listens on. */
function stage(t: TestContext, handlerFor: (socket: LoopSocket) => TransportHandler, change: Partial<SocketCalls> = {}): Stage {
  const errors: unknown[] = [];
  const accepted: LoopSocket[] = [];
  const loop = new SocketLoop({ ...socketCalls!, ...change }, (error) => void errors.push(error));
  const listener = new LoopListener(loop, {
    ...{ address: HOST, port: 0, reusePort: false, backlog: 1024 },
    onConnection: (socket) => {
      accepted.push(socket);
      socket.attach(handlerFor(socket));
    },
  });
  t.after(() => {
    listener.close();
    for (const socket of accepted) socket.destroy();
  });
  return { loop, listener, accepted, errors };
}

const dial = (loop: SocketLoop, { port }: LoopListener): LoopSocket => dialThroughLoop(loop, "127.0.0.1", port) as LoopSocket;

function client(t: TestContext, port: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  t.after(() => socket.destroy());
  return socket;
}

/** Blocks this thread and all its sockets. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("an event of a descriptor that is closed and reused in the same tick does not reach its new owner", { skip }, async (t) => {
  const ears: Ear[] = [];
  let onFirst = (): void => undefined;
  const { loop, listener, accepted } = stage(t, () => {
    const ear = createEar({ onBytes: () => onFirst() });
    ears.push(ear);
    return ear;
  });
  const clients = [client(t, listener.port), client(t, listener.port), client(t, listener.port)];
  await eventually(() => accepted.length === 3);
  const numbers = accepted.map(({ fd }) => fd);
  const dialled: { readonly socket: LoopSocket; readonly ear: Ear }[] = [];
  t.after(() => {
    for (const { socket } of dialled) socket.destroy();
  });
  onFirst = () => {
    if (dialled.length > 0) return;
    const heard = ears.findIndex(({ text }) => text !== "");
    for (const [i, socket] of accepted.entries()) if (i !== heard) socket.destroy();
    // The system hands out the lowest free numbers first.
    while (dialled.length < 64 && dialled.filter(({ socket }) => numbers.includes(socket.fd)).length < 2) {
      const [socket, ear] = [dial(loop, listener), createEar()];
      socket.attach(ear);
      dialled.push({ socket, ear });
    }
  };
  for (const socket of clients) socket.write("for the old");
  // Nothing was read until then, so all of it comes in one turn.
  standStill(30);
  await eventually(() => dialled.length > 0 && dialled.every(({ ear }) => ear.isConnected) && accepted.length === 3 + dialled.length);
  assert.equal(dialled.filter(({ socket }) => numbers.includes(socket.fd)).length, 2, "both numbers are used again");
  await settled();
  assert.equal(ears.filter(({ text }) => text !== "").length, 1);
  assert.ok(dialled.every(({ ear }) => ear.text === "" && ear.drains === 0));
  for (const socket of accepted.slice(3)) socket.sendText("for the new");
  await eventually(() => dialled.every(({ ear }) => ear.text === "for the new"));
});

test("an error of a handler ends only its own connection, and is reported", { skip }, async (t) => {
  for (const method of ["onBytes", "onEnd", "onClosed"] as const) {
    const bad = new Error(method);
    const { listener, accepted, errors } = stage(t, (socket) =>
      createEar(
        accepted.length === 1
          ? {
              [method]: () => {
                throw bad;
              },
            }
          : { onBytes: () => socket.sendText("fine") },
      ),
    );
    const first = client(t, listener.port).resume();
    await eventually(() => accepted.length === 1);
    const second = client(t, listener.port);
    let text = "";
    second.on("data", (bytes: Buffer) => (text += bytes.toString()));
    first.end("bytes and the end");
    if (method === "onClosed") {
      await settled();
      accepted[0]!.destroy();
    }
    await eventually(() => accepted[0]!.fd === -1 && errors.length > 0);
    second.write("?");
    await eventually(() => text === "fine");
    assert.deepEqual(errors, [bad]);
  }
});

test("a listener without free descriptors pauses, and connections wait in its queue", { skip }, async (t) => {
  let refused = 0;
  let isShort = true;
  const { listener, accepted } = stage(t, () => createEar(), {
    accept: (fd) => {
      if (!isShort) return socketCalls!.accept(fd);
      refused++;
      return -24;
    },
  });
  client(t, listener.port);
  await eventually(() => refused > 0);
  const before = refused;
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(refused - before < 100, `asked ${refused - before} times in 200 turns`);
  assert.equal(accepted.length, 0);
  isShort = false;
  await eventually(() => accepted.length === 1);
});

test("dialling without free descriptors fails like any other connection", { skip }, async (t) => {
  let isShort = false;
  const { loop } = stage(t, () => createEar(), { open: (family) => (isShort ? -24 : socketCalls!.open(family)) });
  isShort = true;
  const ear = createEar();
  dialThroughLoop(loop, "127.0.0.1", 9)!.attach(ear);
  assert.deepEqual(ear.closed, []);
  await eventually(() => ear.closed.length === 1);
  assert.deepEqual(ear.closed, ["EMFILE"]);
});

test("the loop does not resolve names, and connects over IPv6", { skip: skip || skipWithoutIpv6 }, async (t) => {
  const { loop } = stage(t, () => createEar());
  assert.equal(dialThroughLoop(loop, "localhost", 80), undefined);
  const peers: string[] = [];
  const listener = new LoopListener(loop, {
    ...{ address: parseIp("::")!, port: 0, reusePort: true, backlog: 16 },
    onConnection: (socket) => {
      peers.push(socket.peer.address, socket.localEnd().address);
      socket.destroy();
    },
  });
  t.after(() => listener.close());
  for (const host of ["::1", "127.0.0.1"]) {
    const ear = createEar({ onEnd: () => socket.end() });
    const socket = dialThroughLoop(loop, host, listener.port)!;
    socket.attach(ear);
    await eventually(() => ear.closed.length > 0);
  }
  assert.deepEqual(peers, ["::1", "::1", "127.0.0.1", "127.0.0.1"]);
});

test("closed connections leave neither descriptors nor watches behind", { skip }, async (t) => {
  const { loop, listener, accepted } = stage(t, (socket) => createEar({ onEnd: () => socket.end() }));
  const descriptors = (): number => readdirSync("/proc/self/fd").length;
  const round = async (count: number): Promise<void> => {
    const ears = Array.from({ length: count }, (_, i) => {
      const ear = createEar();
      const socket = dial(loop, listener);
      socket.attach(ear);
      socket.sendText("bytes");
      if (i % 3 === 0) socket.reset();
      else if (i % 3 === 1) socket.destroySoon();
      else socket.end();
      return ear;
    });
    await eventually(() => ears.every(({ closed }) => closed.length === 1) && accepted.every(({ fd }) => fd === -1));
    accepted.length = 0;
  };
  await round(100);
  const before = descriptors();
  for (let i = 0; i < 10; i++) await round(100);
  await eventually(() => accepted.every(({ fd }) => fd === -1) && descriptors() <= before);
});

/** One action of a peer. */
type Step = readonly [what: "text" | "shared" | "kept" | "pause" | "rest" | "resume" | "turn", size: number];
const LASTS = ["end", "destroySoon", "destroy", "reset"] as const;
const step = fc.tuple(
  fc.constantFrom("text", "shared", "kept", "text", "shared", "kept", "pause", "rest", "resume", "turn"),
  fc.nat(90_000),
);
const side = fc.record({
  steps: fc.array(step, { maxLength: 12 }),
  last: fc.constantFrom(...LASTS),
  isSmall: fc.boolean(),
  isInTurns: fc.boolean(),
});

test("property: for any concurrent actions, each side gets the other's bytes in order, and a close", { skip }, async (t) => {
  const ears: Ear[] = [];
  const { loop, listener, accepted, errors } = stage(t, () => {
    const ear = createEar();
    ears.push(ear);
    return ear;
  });
  await fc.assert(
    fc.asyncProperty(side, side, async (a, b) => {
      accepted.length = ears.length = 0;
      const nearEar = createEar();
      const near = dial(loop, listener);
      near.attach(nearEar);
      await eventually(() => accepted.length === 1 && nearEar.isConnected, 0);
      const far = accepted[0]!;
      const [sentByNear, sentByFar] = await Promise.all([play(loop, near, a, "a"), play(loop, far, b, "b")]);
      near.resume();
      far.resume();
      const isOver = (socket: LoopSocket, ear: Ear): boolean => socket.fd === -1 && ear.closed.length === 1;
      await eventually(() => isOver(near, nearEar) && isOver(far, ears[0]!), 0);
      for (const [ear, sent] of [
        [ears[0]!, sentByNear],
        [nearEar, sentByFar],
      ] as const) {
        assert.ok(sent.startsWith(ear.text), "bytes are lost, doubled or out of order");
        // A peer that closes over unread bytes sends a reset, which may overtake the bytes before it.
        if (a.last === "end" && b.last === "end") assert.equal(ear.text.length, sent.length);
      }
    }),
    { numRuns: 60 },
  );
  assert.deepEqual(errors, []);
});

async function play(
  loop: SocketLoop,
  socket: LoopSocket,
  { steps, last, isSmall, isInTurns }: { steps: Step[]; last: (typeof LASTS)[number]; isSmall: boolean; isInTurns: boolean },
  letter: string,
) {
  let sent = "";
  if (isSmall) socketCalls!.set(socket.fd, "sendBufferBytes", 4096);
  const act = ([what, size]: Step): void => {
    const text = letter + String.fromCharCode(0xa0 + (sent.length % 90)).repeat(size);
    const bytes = Buffer.from(text, "latin1");
    if (what === "text") socket.sendText(text);
    else if (what === "kept") socket.sendKept(letter, bytes, 0, bytes.length, tailOf(size));
    else if (what === "shared") {
      const length = bytes.copy(READ_BUFFER, 0);
      socket.sendShared(letter, READ_BUFFER, 0, length);
      READ_BUFFER.fill("?", 0, length);
      sent += letter + text.slice(0, length);
    } else if (what !== "turn") socket[what]();
    if (what === "text") sent += text;
    if (what === "kept") sent += letter + text + tailOf(size);
  };
  for (const turn of splitAt(steps, "turn")) {
    await inTickOf(isInTurns ? loop : null, () => turn.forEach(act));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await inTickOf(isInTurns ? loop : null, () => socket[last]());
  return sent;
}

/** A tail of none, one or two ends of a chunked body. */
const tailOf = (size: number): string => "\r\n0\r\n\r\n".repeat(size % 3);

/** Splits the steps at those of one kind. */
function splitAt(steps: readonly Step[], what: string): Step[][] {
  const runs: Step[][] = [[]];
  for (const step of steps)
    if (step[0] === what) runs.push([]);
    else runs.at(-1)!.push(step);
  return runs;
}

test(
  "data that sockets send in a tick goes out after the loop has read all input of the tick, complete and to the right peer",
  { skip },
  async (t) => {
    for (const size of [10, 3_000, 12_000, 20_000]) {
      const calls: string[] = [];
      const told =
        <A extends unknown[]>(name: string, call: (...args: A) => number) =>
        (...args: A): number => (calls.push(name), call(...args));
      const { listener, accepted, errors } = stage(
        t,
        (socket) =>
          createEar({
            onBytes: (buffer, length) => [1, 2].forEach(() => socket.sendText(buffer.toString("latin1", 0, length).repeat(size))),
          }),
        {
          receive: told("read", socketCalls!.receive),
          sendGathered: told("send", socketCalls!.sendGathered),
          sendText: told("at once", socketCalls!.sendText),
        },
      );
      const texts = Array.from({ length: 20 }, () => "");
      const clients = texts.map((_, i) => client(t, listener.port).on("data", (bytes: Buffer) => (texts[i] += bytes.toString("latin1"))));
      await eventually(() => accepted.length === clients.length);
      await settled();
      calls.length = 0;
      for (const [i, socket] of clients.entries()) socket.write(String.fromCharCode(0x41 + i));
      // Nothing was read until then, so all of it comes in one turn.
      standStill(30);
      await eventually(() => texts.every((text) => text.length === 2 * size));
      for (const [i, text] of texts.entries()) assert.equal(text, String.fromCharCode(0x41 + i).repeat(2 * size));
      assert.deepEqual(errors, []);
      if (size === 10) assert.deepEqual(calls, [...texts.map(() => "read"), ...texts.map(() => "send")]);
      assert.equal(calls.includes("at once"), size === 20_000);
    }
  },
);

test("deferred tasks run after all responses of a tick and of input that arrives meanwhile", { skip }, async (t) => {
  const done: string[] = [];
  const clients: Socket[] = [];
  const sendGathered: SocketCalls["sendGathered"] = (fd, start, end) => {
    done.push("answer");
    if (done.length === 3) clients[3]!.write("who comes meanwhile");
    return socketCalls!.sendGathered(fd, start, end);
  };
  const handlerFor = (socket: LoopSocket): TransportHandler =>
    createEar({
      onBytes: (buffer, length) => {
        socket.sendText("yes");
        assert.ok(afterSends({ onAllSent: () => void done.push(buffer.toString("latin1", 0, length)) }));
      },
    });
  const { listener, accepted, errors } = stage(t, handlerFor, { sendGathered });
  while (clients.length < 4) clients.push(client(t, listener.port));
  await eventually(() => accepted.length === 4);
  await settled();
  for (const [index, name] of ["first", "second", "third"].entries()) clients[index]!.write(name);
  await eventually(() => done.length >= 8);
  const answers = ["answer", "answer", "answer", "answer"];
  assert.deepEqual([...done.slice(0, 4), ...done.slice(4).toSorted()], [...answers, "first", "second", "third", "who comes meanwhile"]);
  assert.deepEqual(errors, []);
});

test("reads become longer while they fill their buffer, and short again after a wait", { skip }, async (t) => {
  const SHORTEST = 64 * 1024;
  const reads: { readonly asked: number; readonly got: number }[] = [];
  const receive: SocketCalls["receive"] = (fd, bytesMax) => {
    const length = socketCalls!.receive(fd, bytesMax);
    if (length > 0) reads.push({ asked: bytesMax, got: length });
    return length;
  };
  let received = 0;
  const { listener, accepted } = stage(t, () => createEar({ onBytes: (_, length) => void (received += length) }), { receive });
  const sender = client(t, listener.port);
  await eventually(() => accepted.length === 1);
  const [socket] = accepted as [LoopSocket];
  const send = async (bytes: number): Promise<void> => {
    const [first, until] = [reads.length, received + bytes];
    socket.pause();
    sender.write(Buffer.alloc(bytes));
    // So many bytes wait that reads are full.
    await settled();
    standStill(30);
    socket.resume();
    await eventually(() => received === until);
    let expected = SHORTEST;
    for (const { asked, got } of reads.slice(first)) {
      assert.equal(asked, expected);
      if (got === asked) expected = Math.min(asked * 2, SLOT_BYTES);
    }
  };
  await send(8_000_000);
  assert.equal(reads.at(-1)?.asked, SLOT_BYTES);
  await send(100_000);
  assert.equal(socket.bytesRead, 8_100_000);
});

test("collected bytes are sent before an end, a close or a reset, and do not count as queued", { skip }, async (t) => {
  for (const last of LASTS) {
    let waited = -1;
    const { listener, accepted } = stage(t, (socket) =>
      createEar({
        onBytes: () => {
          socket.sendText("last words");
          if (last === "end") waited = socket.queuedBytes;
          socket[last]();
        },
      }),
    );
    let text = "";
    const socket = client(t, listener.port).on("data", (bytes: Buffer) => (text += bytes.toString()));
    socket.write("?");
    await eventually(() => text === "last words" && accepted.length === 1);
    if (last === "end") assert.equal(waited, 0);
    socket.destroy();
  }
});

const THREAD = `
  import { parentPort } from "node:worker_threads";
  const { loadSocketCalls } = await import(${JSON.stringify(import.meta.resolve("./socket-calls.ts"))});
  const { SocketLoop } = await import(${JSON.stringify(import.meta.resolve("./socket-loop.ts"))});
  const { LoopListener } = await import(${JSON.stringify(import.meta.resolve("./loop-listener.ts"))});
  const loop = new SocketLoop(await loadSocketCalls(), (error) => { throw error; });
  const sockets = [];
  const listener = new LoopListener(loop, {
    address: { family: 4, bytes: Uint8Array.of(127, 0, 0, 1) }, port: 0, reusePort: false, backlog: 16,
    onConnection: (socket) => {
      sockets.push(socket);
      socket.attach({ onBytes: (bytes, length) => socket.sendText("echo"), onDrain() {}, onEnd() { socket.end(); }, onClosed() {} });
    },
  });
  parentPort.once("message", () => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  parentPort.postMessage(listener.port);
`;

test("a thread ends when everything in its loop is closed, and can be terminated before", { skip }, async (t) => {
  for (const isAsked of [true, false]) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`));
    t.after(() => worker.terminate());
    const port = await new Promise<number>((resolve, reject) => worker.once("message", resolve).once("error", reject));
    let heard = 0;
    const sockets = Array.from({ length: 20 }, () => client(t, port).on("data", () => heard++));
    for (const socket of sockets) socket.write("?");
    await eventually(() => heard === sockets.length);
    const ended = new Promise<number>((resolve) => worker.once("exit", resolve));
    // In the middle of what they send.
    for (const socket of sockets) socket.write("?");
    if (isAsked) worker.postMessage("close");
    else void worker.terminate();
    assert.equal(await ended, isAsked ? 0 : 1);
  }
});
