import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net";
import { after, before, test } from "node:test";
import { TLSSocket } from "node:tls";
import { descriptorOf, type DirectSend, handleOf, loadDirectSend } from "./direct-send.ts";
import { READ_BUFFER } from "./shared-reads.ts";
import { SocketWriter } from "./socket-writer.ts";

let server: Server;
let port: number;
const accepted: Socket[] = [];
before(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    accepted.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
after(() => {
  server.close();
  for (const socket of accepted) socket.destroy();
});

/** A socket and the other end of its connection. */
async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const near = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
  near.on("error", () => undefined);
  await once(near, "connect");
  const isFar = (socket: Socket): boolean => socket.remotePort === near.localPort;
  while (!accepted.some(isFar)) await once(server, "connection");
  return { near, far: accepted.find(isFar)! };
}

const direct = await loadDirectSend();
const WAYS: readonly (readonly [string, DirectSend | null])[] = [
  ["by Node.js", null],
  ["directly", direct],
];

test("here the kernel is asked directly", { skip: process.platform !== "linux" }, () => assert.ok(direct !== null));

for (const [way, directSend] of WAYS) {
  test(`what is sent ${way} arrives whole and in order, however slow the reader`, async () => {
    const { near, far } = await pair();
    const writer = new SocketWriter(near, directSend);
    const expected: string[] = [];
    const received: string[] = [];
    far.on("data", (bytes: Buffer) => {
      received.push(bytes.toString("latin1"));
      far.pause();
      setImmediate(() => far.resume());
    });
    for (let turn = 0; turn < 120; turn++) {
      const letter = String.fromCharCode(0xa1 + (turn % 90));
      const head = `${turn} ${letter.repeat((turn * 7919) % 700)}\r\n`;
      writer.string(head);
      const start = (turn * 31) % 1000;
      const end = start + ((turn * 104_729) % (READ_BUFFER.length - 1000));
      READ_BUFFER.fill(letter, start, end, "latin1");
      if (turn % 3 === 0) writer.lastBytes(READ_BUFFER, start, end);
      else writer.bytes(READ_BUFFER, start, end, true);
      const kept = Buffer.alloc((turn * 15_485_863) % 40_000, letter, "latin1");
      writer.bytes(kept, 0, kept.length, turn % 2 === 0);
      expected.push(head, letter.repeat(end - start), letter.repeat(kept.length));
      const hasRoom = writer.flush();
      // What is read next into the shared buffer must not change what was sent.
      READ_BUFFER.fill("?");
      if (!hasRoom) await once(near, "drain");
    }
    const whole = expected.join("");
    near.end();
    await once(far, "end");
    assert.equal(received.join(""), whole);
    assert.equal(writer.written, whole.length);
    assert.equal(writer.bytesTaken, whole.length);
    far.end();
  });

  test(`a socket that has closed sends nothing ${way}: its descriptor may be another's`, async () => {
    const first = await pair();
    const writer = new SocketWriter(first.near, directSend);
    writer.string("to the first ");
    writer.flush();
    await once(first.far, "readable");
    const number = descriptorOf(first.near, handleOf(first.near));
    first.near.destroy();
    await once(first.near, "close");
    const others = [await pair(), await pair(), await pair()];
    assert.ok(
      process.platform !== "linux" ||
        others.some(({ near, far }) => [near, far].some((socket) => descriptorOf(socket, handleOf(socket)) === number)),
      "the number is in use again",
    );
    writer.string("secret");
    writer.flush();
    READ_BUFFER.fill("s", 0, 40_000);
    writer.bytes(READ_BUFFER, 0, 40_000, true);
    for (const { near, far } of others) for (const socket of [near, far]) socket.end("only this");
    for (const { near, far } of others) {
      for (const socket of [near, far]) assert.equal(await textOf(socket), "only this");
    }
  });
}

test("bytes for a socket of TLS are never sent past its encryption", () => {
  assert.equal(descriptorOf(new TLSSocket(new Socket()), { fd: 1 }), -1);
  assert.equal(descriptorOf(new Socket(), {}), -1);
});

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const bytes of socket) text += (bytes as Buffer).toString("latin1");
  return text;
}
