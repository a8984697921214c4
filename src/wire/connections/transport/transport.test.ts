import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { eventually, settled } from "../../../../test/support/eventually.ts";
import { createEar, createPeer, dial, type Ear, type Peer, thrown, WAYS } from "#wire/connections/testing/transports.ts";
import type { Transport } from "./transport.ts";

let peer: Peer;
before(async () => {
  peer = await createPeer();
});
after(() => {
  peer.close();
  assert.deepEqual(thrown, []);
});

interface Pair {
  readonly near: Transport;
  readonly ear: Ear;
  readonly far: Socket;
}

async function pair(way: (typeof WAYS)[number][1], ear = createEar()): Promise<Pair> {
  const near = peer.dial(way);
  near.attach(ear);
  const far = await peer.accept();
  await eventually(() => ear.isConnected);
  return { near, ear, far };
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const bytes of socket) text += (bytes as Buffer).toString("latin1");
  return text;
}

const LONG = "0123456789abcdef".repeat(200_000);

for (const [way, loop] of WAYS) {
  test(`${way}: each direction ends by itself, and the connection closes once after both`, async () => {
    const { near, ear, far } = await pair(loop);
    far.end("all of it");
    await eventually(() => ear.ends === 1);
    assert.equal(ear.text, "all of it");
    near.sendText("still ");
    near.sendKept("here", Buffer.from(" and there"), 0, 10);
    near.end();
    near.sendText("too late");
    assert.equal(await textOf(far), "still here and there");
    await eventually(() => ear.closed.length > 0);
    await settled();
    assert.deepEqual([ear.closed, ear.ends], [[""], 1]);
  });

  test(`${way}: all data that is sent before the end arrives`, async () => {
    for (const last of ["end", "destroySoon"] as const) {
      const { near, far } = await pair(loop);
      near.sendText(LONG);
      near.sendKept("", Buffer.from(LONG), 0, LONG.length);
      near[last]();
      assert.equal((await textOf(far)).length, 2 * LONG.length, last);
      far.destroy();
    }
  });

  test(`${way}: the sender learns when the reader is behind and when it has caught up`, async () => {
    const { near, ear, far } = await pair(loop);
    let sent = 0;
    for (let i = 0; i < 10 && !near.needsDrain; i++) {
      near.sendText(LONG);
      sent += LONG.length;
    }
    assert.ok(near.needsDrain);
    assert.equal(near.bytesTaken + near.queuedBytes, sent);
    let isSent = false;
    near.whenSent(() => (isSent = true));
    await settled();
    assert.deepEqual([ear.drains, isSent], [0, false]);
    far.resume();
    await eventually(() => ear.drains === 1 && isSent);
    assert.deepEqual([near.needsDrain, near.queuedBytes, near.bytesTaken], [false, 0, sent]);
    near.destroy();
  });

  test(`${way}: a paused socket does not read, and continues at the same byte`, async () => {
    const { near, ear, far } = await pair(loop);
    far.write("one");
    await eventually(() => ear.text === "one");
    near.pause();
    far.end(" two");
    await settled();
    assert.deepEqual([ear.text, ear.ends], ["one", 0]);
    near.resume();
    await eventually(() => ear.ends === 1);
    assert.equal(ear.text, "one two");
    near.destroy();
  });

  test(`${way}: a pause in a large transfer loses and repeats no bytes`, async () => {
    const ear = createEar({ onBytes: () => pausing() });
    const { near, far } = await pair(loop, ear);
    const pausing = (): void => {
      near.pause();
      setImmediate(() => near.resume());
    };
    far.end(LONG);
    await eventually(() => ear.ends === 1);
    assert.ok(ear.text === LONG);
    assert.equal(near.bytesRead, LONG.length);
    near.destroy();
  });

  test(`${way}: a reset by the peer closes with its code, and our reset reaches the peer as one`, async () => {
    const first = await pair(loop);
    first.far.resetAndDestroy();
    await eventually(() => first.ear.closed.length === 1);
    assert.deepEqual(first.ear.closed, ["ECONNRESET"]);
    const second = await pair(loop);
    const failed = once(second.far, "error") as Promise<[NodeJS.ErrnoException]>;
    second.far.resume();
    second.near.reset();
    assert.equal((await failed)[0].code, "ECONNRESET");
    await eventually(() => second.ear.closed.length === 1);
    assert.deepEqual(second.ear.closed, [""]);
  });

  test(`${way}: dialling a closed port closes with the reason and never connects`, async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const ear = createEar();
    const near = dial(loop, port);
    near.attach(ear);
    near.sendText("for nobody");
    await eventually(() => ear.closed.length === 1);
    assert.deepEqual([ear.closed, ear.isConnected], [["ECONNREFUSED"], false]);
  });

  test(`${way}: data sent before the connection exists goes out with it`, async () => {
    const near = peer.dial(loop);
    near.attach(createEar());
    near.sendText("early");
    near.end();
    const far = await peer.accept();
    assert.equal(await textOf(far), "early");
    far.end();
  });

  test(`${way}: after a close no more bytes arrive, and close callbacks run last`, async () => {
    const heard: string[] = [];
    const ear = createEar({ onBytes: () => heard.push("bytes"), onClosed: () => heard.push("closed") });
    const { near, far } = await pair(loop, ear);
    near.whenClosed(() => heard.push("first"));
    near.whenClosed(() => heard.push("second"));
    far.write("never read");
    near.destroy();
    near.destroy();
    near.sendText("never sent");
    assert.deepEqual(heard, []);
    await eventually(() => heard.length >= 3);
    await settled();
    assert.deepEqual(heard, ["closed", "first", "second"]);
  });

  test(`${way}: bytes that arrive during a pause are delivered after it, and so is everything later`, async () => {
    const { near, ear, far } = await pair(loop);
    for (const text of ["a", "b", "", "", "c"]) {
      const before = ear.text;
      near.rest();
      far.write(text);
      await settled();
      assert.equal(ear.text, before);
      near.resume();
      await eventually(() => ear.text === before + text);
      await settled();
      far.write("+");
      await eventually(() => ear.text === `${before}${text}+`);
    }
    near.rest();
    near.rest();
    let [sent, received] = [0, 0];
    for (; !near.needsDrain; sent += LONG.length) near.sendText(LONG);
    far.on("data", (bytes: Buffer) => (received += bytes.length));
    await eventually(() => received === sent && ear.drains === 1);
    far.end("the last");
    await settled();
    assert.equal(ear.ends, 0);
    near.resume();
    await eventually(() => ear.ends === 1);
    assert.equal(ear.text, "a+b+++c+the last");
    near.end();
    await eventually(() => ear.closed.length === 1);
  });

  test(`${way}: the next handler gets returned bytes first`, async () => {
    const next = createEar();
    const ear = createEar({
      onBytes: (buffer, length) => {
        near.unread(Buffer.from(buffer.subarray(4, length)));
        near.attach(next);
      },
    });
    const near = peer.dial(loop);
    near.attach(ear);
    const far = await peer.accept();
    far.write("headfirst");
    await eventually(() => next.text === "first");
    far.end(" last");
    await eventually(() => next.ends === 1);
    assert.deepEqual([ear.text, next.text], ["headfirst", "first last"]);
    near.destroy();
    await eventually(() => next.closed.length === 1);
    assert.deepEqual(ear.closed, []);
  });

  test(`${way}: a transport can become a socket of Node.js for the same connection`, async () => {
    const { near, ear, far } = await pair(loop);
    let isGone = false;
    near.whenClosed(() => (isGone = true));
    near.pause();
    far.write("to the socket");
    near.sendText("by the transport, ");
    await settled();
    const socket = near.intoSocket();
    let text = "";
    socket.on("data", (bytes: Buffer) => (text += bytes.toString())).resume();
    await eventually(() => text === "to the socket");
    socket.end("by the socket");
    assert.equal(await textOf(far), "by the transport, by the socket");
    far.end();
    await eventually(() => isGone);
    assert.deepEqual([ear.text, ear.closed], ["", []]);
  });

  test(`${way}: the transport has the addresses of both ends`, async () => {
    const { near, far } = await pair(loop);
    assert.deepEqual(near.localEnd(), { address: "127.0.0.1", port: far.remotePort });
    assert.deepEqual(near.peer, { address: "127.0.0.1", port: far.localPort });
    assert.equal(near.tls, null);
    near.destroy();
  });
}
