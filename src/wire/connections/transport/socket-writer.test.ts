import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { eventually } from "../../../../test/support/eventually.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import { SocketWriter } from "./socket-writer.ts";
import { createEar, createPeer, type Peer, WAYS } from "#wire/connections/testing/transports.ts";

let peer: Peer;
before(async () => {
  peer = await createPeer();
});
after(() => peer.close());

test("Linux has our own event loop", { skip: process.platform !== "linux" }, () => assert.equal(WAYS.length, 2));

for (const [way, loop] of WAYS) {
  test(`data sent by ${way} arrives complete and in order, however slow the reader`, async () => {
    const near = peer.dial(loop);
    let drained = (): void => undefined;
    near.attach(createEar({ onDrain: () => drained() }));
    const far = await peer.accept();
    const writer = new SocketWriter(near);
    const expected: string[] = [];
    const received: string[] = [];
    far.on("data", (bytes: Buffer) => {
      received.push(bytes.toString("latin1"));
      far.pause();
      setImmediate(() => far.resume());
    });
    for (let turn = 0; turn < 120; turn++) {
      const letter = String.fromCharCode(0xa1 + (turn % 90));
      const head = `${turn} ${letter.repeat((turn * 7919) % (turn % 40 === 39 ? 50_000 : 700))}\r\n`;
      writer.string(head);
      const start = (turn * 31) % 1000;
      const end = start + ((turn * 104_729) % (READ_BUFFER.length - 1000));
      READ_BUFFER.fill(letter, start, end, "latin1");
      if (turn % 3 === 0) writer.lastBytes(READ_BUFFER, start, end);
      else writer.bytes(READ_BUFFER, start, end, true);
      const kept = Buffer.alloc((turn * 15_485_863) % 40_000, letter, "latin1");
      writer.bytes(kept, 0, kept.length, turn % 2 === 0);
      expected.push(head, letter.repeat(end - start), letter.repeat(kept.length));
      // Text and bytes behind kept bytes.
      if (turn % 5 === 0) writer.bytes(Buffer.from("more"), 1, 3, false);
      if (turn % 7 === 0) writer.string("tail");
      expected.push(turn % 5 === 0 ? "or" : "", turn % 7 === 0 ? "tail" : "");
      const hasRoom = writer.flush();
      // The next read into the shared buffer must not change bytes that were sent.
      READ_BUFFER.fill("?");
      if (!hasRoom) await new Promise<void>((resolve) => (drained = resolve));
    }
    const whole = expected.join("");
    near.end();
    await once(far, "end");
    assert.equal(received.join(""), whole);
    assert.equal(writer.written, whole.length);
    assert.equal(writer.bytesTaken, whole.length);
    far.end();
  });

  test(`after a close, ${way} writes nothing to the descriptor, which may belong to another connection`, async () => {
    const ear = createEar();
    const first = peer.dial(loop);
    first.attach(ear);
    const firstFar = await peer.accept();
    const writer = new SocketWriter(first);
    await eventually(() => ear.isConnected);
    writer.string("to the first ");
    writer.flush();
    await once(firstFar, "readable");
    first.destroy();
    const others = await Promise.all(
      [0, 1, 2].map(async () => {
        const near = peer.dial(loop);
        const nearEar = createEar();
        near.attach(nearEar);
        return { near, nearEar, far: await peer.accept() };
      }),
    );
    await eventually(() => others.every(({ nearEar }) => nearEar.isConnected));
    writer.string("secret");
    writer.flush();
    READ_BUFFER.fill("s", 0, 40_000);
    writer.bytes(READ_BUFFER, 0, 40_000, true);
    writer.bytes(Buffer.alloc(40_000, "s"), 0, 40_000, false);
    for (const { near, far } of others) {
      near.sendText("only this");
      near.end();
      far.end("only that");
    }
    for (const { nearEar, far } of others) {
      let text = "";
      for await (const bytes of far) text += (bytes as Buffer).toString("latin1");
      assert.equal(text, "only this");
      await eventually(() => nearEar.closed.length === 1);
      assert.equal(nearEar.text, "only that");
    }
    await eventually(() => ear.closed.length === 1);
  });
}
