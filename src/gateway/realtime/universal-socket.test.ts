import assert from "node:assert/strict";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { fc } from "../../../test/support/property.ts";
import { bytesOf, heardOf, type SentFrame, webSocketConversation } from "../../../test/support/web-socket-frames.ts";
import type { AnswerSink } from "#gateway/listen/response-writer.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import { createUniversalSockets } from "./universal-socket.ts";

const HANDSHAKE = { "sec-websocket-key": Buffer.alloc(16).toString("base64"), "sec-websocket-version": "13" };

/** A socket of the universal endpoint, and its client, which reads only when told to. */
async function open(t: TestContext, idleMs: number, onRequest: (req: ClientRequest, answer: AnswerSink) => void) {
  const sockets = createUniversalSockets({ vendorPrefix: "svc", messageBytesMax: 1_000_000, onRequest, idleMs });
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    sockets.accept({ headers: { ...HANDSHAKE }, target: "/" } as ClientRequest, socket, Buffer.alloc(0), { others: [] } as never);
    resolve(socket);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
  client.on("error", () => undefined);
  t.after(() => {
    client.destroy();
    server.close();
  });
  return { client, server: await promise };
}

/** A client's frame, masked with zeros (RFC 6455 §5.3). */
function frame(opcode: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? Buffer.of(0x80 | payload.length) : Buffer.of(0x80 | 126, payload.length >> 8, payload.length & 0xff);
  return Buffer.concat([Buffer.of(0x80 | opcode), length, Buffer.alloc(4), payload]);
}

test("a client that does not read its response is disconnected at the timeout", async (t) => {
  let answer: AnswerSink | undefined;
  const { client, server } = await open(t, 100, (_req, given) => void (answer = given));
  client.write(frame(1, Buffer.from(JSON.stringify({ type: "universal.create", request: {} }))));
  await eventually(() => answer !== undefined);
  answer?.begin(200, ["content-type", "text/event-stream"]);
  for (let i = 0; i < 16; i++) answer?.write(Buffer.from(`data: ${"x".repeat(1_000_000)}\n\n`));
  assert.ok(server.writableLength > 0);
  await eventually(() => server.destroyed && answer?.isGone === true);
});

test("pongs for a client that does not read wait in its socket, not in memory", async (t) => {
  const { client, server } = await open(t, 60_000, () => undefined);
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(9, Buffer.alloc(125))));
  let sent = 0;
  const send = (): void => {
    while (sent < 150 && client.write(pings)) sent++;
    sent++;
    if (sent < 150) client.once("drain", send);
  };
  send();
  await eventually(() => server.isPaused());
  assert.ok(server.writableLength < 4_000_000, `${server.writableLength}`);
  client.resume();
  await eventually(() => sent >= 150 && !server.isPaused());
});

test("a ping waits for few frames of another client's flood", async (t) => {
  const sockets = createUniversalSockets({ vendorPrefix: "svc", messageBytesMax: 1_000_000, onRequest: () => undefined });
  const accept = (onWrite: () => void): { readonly push: (bytes: Buffer) => void; readonly sent: () => number } => {
    let sent = 0;
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        sent += chunk.length;
        onWrite();
        done();
      },
    });
    t.after(() => socket.destroy());
    sockets.accept({ headers: { ...HANDSHAKE }, target: "/" } as ClientRequest, socket, Buffer.alloc(0), { others: [] } as never);
    const handshake = sent;
    return { push: (bytes) => void socket.push(bytes), sent: () => sent - handshake };
  };
  const flood = accept(() => undefined);
  let before = 0;
  const other = accept(() => (before = flood.sent()));
  flood.push(Buffer.concat(Array.from({ length: 5000 }, () => frame(9, Buffer.alloc(0)))));
  other.push(frame(9, Buffer.from("a")));
  await eventually(() => other.sent() === 3);
  assert.ok(before < 5000, `${before} bytes of pongs for the flood before the other one's`);
  await eventually(() => flood.sent() === 10_000);
});

/** The server's frames as `opcode payload`; none is masked or fragmented. */
function said(bytes: Buffer): string[] {
  const frames: string[] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1]!;
    const [from, length] = short === 126 ? [at + 4, bytes.readUInt16BE(at + 2)] : [at + 2, short];
    assert.ok(short < 127 && bytes.length >= from + length, "a frame that is whole, and not masked");
    const payload = bytes.subarray(from, from + length);
    const isClose = bytes[at] === 0x88;
    frames.push(isClose ? `close ${payload.readUInt16BE(0)}` : bytes[at] === 0x8a ? `ping ${payload.toString("hex")}` : "told off");
    at = from + length;
  }
  return frames;
}

const sendsAll = (sent: readonly SentFrame[]): string[] => {
  const { events, end } = heardOf(sent, 1_000_000);
  const answered = events.map((event) => (event.startsWith("text ") ? "told off" : event));
  return end === null ? answered : [...answered, `close ${end.code ?? 1000}`];
};

test("for any frames in any chunks, a client gets the due pongs, responses and close, and the connection ends", async (t) => {
  await fc.assert(
    fc.asyncProperty(webSocketConversation, fc.integer({ min: 1, max: 2000 }), async (sent, size) => {
      const { client, server } = await open(t, 60_000, () => assert.fail("no message here asks for anything"));
      const pieces: Buffer[] = [];
      client.on("data", (piece) => pieces.push(piece)).resume();
      const bytes = Buffer.concat(sent.map(bytesOf));
      for (let at = 0; at < bytes.length; at += size) client.write(bytes.subarray(at, at + size));
      const due = sendsAll(sent);
      const heard = (): Buffer => Buffer.concat(pieces);
      const frames = (): string[] => said(heard().subarray(heard().indexOf("\r\n\r\n") + 4));
      await eventually(() => heard().includes("\r\n\r\n") && frames().length >= due.length);
      const isOver = due.at(-1)?.startsWith("close ") === true;
      // A client that closes its side within a frame counts as gone.
      client.end();
      await eventually(() => server.destroyed);
      assert.deepEqual(frames(), due);
      assert.ok(!isOver || server.writableFinished);
    }),
    { numRuns: 60 },
  );
});
