import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { block, END_HEADERS, END_STREAM, type Field, frame, FRAME, GET, POST, request } from "../../../test/support/http2-frames.ts";
import type { RequestFields } from "./request-fields.ts";
import { Session, type SessionLimits, type SessionOwner } from "./session.ts";
import type { ServerStream } from "./stream.ts";
import { WindowBudget, type WindowLimits } from "./window-budget.ts";

const LIMITS: SessionLimits = {
  streamsMax: 10,
  windowBytes: 20_000,
  windowBytesMax: 20_000,
  headBytesMax: 65_536,
  fieldsMax: 200,
  resetsMax: 100,
  resetsPerSecond: 0,
  allowsWebSockets: true,
};
const WINDOWS: WindowLimits = { connectionBytesMax: 1_000_000, addressBytesMax: 1_000_000, bytesMax: 1_000_000 };
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Answers each complete request with its own fields, body and trailers. */
class Echo implements SessionOwner {
  readonly nowMs = 0;
  readonly session: Session;
  private readonly onReady: () => void;

  constructor(onReady: () => void = () => undefined, limits: Partial<SessionLimits> = {}, windows = new WindowBudget(WINDOWS)) {
    this.onReady = onReady;
    this.session = new Session(this, { ...LIMITS, ...limits }, windows.forConnection("192.0.2.1"));
  }

  onOutput(): void {
    this.onReady();
  }

  onSettled(): void {}
  onAcknowledged(): void {}
  onDraining(): void {}
  onFault(): void {
    this.onReady();
  }

  onRequest(stream: ServerStream, { lines, cookie, method }: RequestFields): void {
    const { encoder } = this.session;
    const fields = lines.split("\r\n").slice(0, -1);
    if (cookie !== "") fields.push(`x-cookie: ${cookie}`);
    const pieces: Buffer[] = [];
    const answer = (trailers: readonly string[]): void => {
      encoder.begin();
      encoder.status(200);
      for (const line of fields) encoder.text(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2));
      stream.sendHead();
      if (method !== "HEAD") for (const piece of pieces) stream.send(piece, 0, piece.length);
      stream.end(Array.from({ length: trailers.length / 2 }, (_, i) => ({ name: trailers[2 * i]!, value: trailers[2 * i + 1]! })));
    };
    stream.handler = {
      onData: (buffer, start, end) => void pieces.push(Buffer.from(buffer.subarray(start, end))),
      onEnd: answer,
      onDrain: () => undefined,
      onMalformed: () => undefined,
      onClose: () => undefined,
    };
    if (stream.isRemoteDone) answer([]);
  }

  /** Takes everything that waits to be sent, and what follows once that was sent. */
  take(): Buffer {
    const { session } = this;
    const pieces: Buffer[] = [];
    for (let chunk = session.output.take(); chunk !== null; chunk = session.output.take()) {
      pieces.push(Buffer.from(chunk.buffer.subarray(0, chunk.length)));
      session.output.release(chunk);
      session.pump();
    }
    return Buffer.concat(pieces);
  }
}

/** Types and flags of the frames in the bytes. */
function frames(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    found.push(`${bytes[at + 3]}:${bytes[at + 4]}:${bytes.readUInt32BE(at + 5)}`);
  return found;
}

const receive = (echo: Echo, ...pieces: readonly Buffer[]): void => {
  for (const piece of pieces) echo.session.receive(piece, piece.length);
};

test("the output of a tick is one buffer, and the last frame of a stream has END_STREAM", () => {
  const echo = new Echo();
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.of(0, 1, 0, 0)));
  echo.take();
  receive(echo, request(1), request(3, [], false, POST), frame(FRAME.DATA, END_STREAM, 3, "body"), request(5));
  assert.equal(echo.session.output.length, echo.session.output.take()?.length);
  receive(echo, request(7), request(9, [], false, POST), frame(FRAME.DATA, 0, 9, "body"));
  receive(echo, frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 9, block([["x-a", "1"]])));
  assert.deepEqual(frames(echo.take()), ["1:5:7", "1:4:9", "0:0:9", "1:5:9"]);
  assert.equal(echo.session.streams.size, 0);
});

test("adjacent small chunks of a body become one frame", () => {
  const echo = new Echo();
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [], false, POST), request(3, [], false, POST));
  echo.take();
  for (let i = 0; i < 1000; i++) receive(echo, frame(FRAME.DATA, 0, 1, "0123456789"));
  receive(echo, frame(FRAME.DATA, END_STREAM, 1, "last"), frame(FRAME.DATA, END_STREAM, 3, "3"));
  const answered = echo.take();
  const [, body, ...others] = frames(answered).filter((text) => !text.startsWith("8:"));
  assert.deepEqual([body, others], ["0:1:1", ["1:4:3", "0:1:3"]]);
  assert.ok(answered.includes(Buffer.concat([Buffer.of(0, 10_004 >> 8, 10_004 & 0xff, 0, 1, 0, 0, 0, 1), Buffer.from("0123456789")])));
});

const likelyField = fc.constantFrom<Field>(["x-a", "1"], ["cookie", "a=1"], ["content-length", "5"], ["te", "trailers"], ["X-B", "2"]);
const id = fc.constantFrom(1, 3, 5, 7, 9, 2, 0);
const anyFrame = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 63 }), id, fc.uint8Array({ maxLength: 40 }))
  .map(([type, flags, stream, bytes]) => frame(type, flags, stream, Buffer.from(bytes)));
const likelyFrame = fc.oneof(
  fc
    .tuple(id, fc.constantFrom(0, 1, 4, 5), fc.constantFrom(GET, POST, []), fc.array(likelyField, { maxLength: 3 }))
    .map(([stream, flags, pseudo, more]) => frame(FRAME.HEADERS, flags, stream, block([...pseudo, ...more]))),
  fc
    .tuple(id, fc.constantFrom(0, 1, 8), fc.nat({ max: 9000 }))
    .map(([stream, flags, length]) => frame(FRAME.DATA, flags, stream, Buffer.alloc(length))),
  fc.tuple(id, fc.constantFrom(0, 4)).map(([stream, flags]) => frame(FRAME.CONTINUATION, flags, stream, block([["x-c", "3"]]))),
  fc.tuple(id, fc.integer({ min: -1, max: 40_000 })).map(([stream, more]) => {
    const increment = Buffer.alloc(4);
    increment.writeInt32BE(more);
    return frame(FRAME.WINDOW_UPDATE, 0, stream, increment);
  }),
  fc.tuple(fc.constantFrom(1, 2, 3, 4, 5, 8), fc.constantFrom(0, 1, 100, 16_384, 0xffff_ffff)).map(([setting, value]) => {
    const payload = Buffer.alloc(6);
    payload.writeUInt16BE(setting);
    payload.writeUInt32BE(value, 2);
    return frame(FRAME.SETTINGS, 0, 0, payload);
  }),
  id.map((stream) => frame(FRAME.RST_STREAM, 0, stream, Buffer.of(0, 0, 0, 8))),
);
const conversation = fc
  .tuple(
    fc.array(fc.oneof({ weight: 5, arbitrary: likelyFrame }, anyFrame), { minLength: 1, maxLength: 15 }),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 2 }),
  )
  .map(([list, changes]) => {
    const bytes = Buffer.concat([PREFACE, frame(FRAME.SETTINGS, 0, 0), ...list]);
    for (const [place, value] of changes) bytes[place % bytes.length] = value;
    return bytes;
  });

test("property: the responses to any bytes do not depend on their chunks, and the state is bounded", () => {
  fc.assert(
    fc.property(conversation, fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 8 }), (bytes, sizes) => {
      const said = [sizes, [bytes.length], [1]].map((steps) => {
        const echo = new Echo();
        for (let at = 0, i = 0; at < bytes.length; i++) {
          // A separate buffer for each piece, overwritten afterwards as a socket's buffer is.
          const piece = Buffer.from(bytes.subarray(at, (at += steps[i % steps.length]!)));
          receive(echo, piece);
          piece.fill(0x55);
          assert.ok(echo.session.streams.size <= LIMITS.streamsMax);
          assert.ok(echo.session.output.length < 200_000);
        }
        return echo.take();
      });
      assert.ok(said.every((other) => frames(other).join() === frames(said[0]!).join()));
    }),
    { numRuns: 500 },
  );
});

test("a reset request holds no memory, whatever waited for it", () => {
  const echo = new Echo();
  const nothing = Buffer.of(0, 4, 0, 0, 0, 0);
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0, nothing));
  for (let stream = 1; stream < 100; stream += 2) {
    receive(echo, request(stream, [], false, POST), frame(FRAME.DATA, END_STREAM, stream, "waits for ever"));
    assert.equal(echo.session.streams.get(stream)?.pendingBytes, 14);
    receive(echo, frame(FRAME.RST_STREAM, 0, stream, Buffer.of(0, 0, 0, 8)));
    assert.equal(echo.session.streams.size, 0);
  }
  assert.equal(echo.session.isOver, false);
});

test("the session ignores late frames of a stream that it has reset, however many other streams have ended since", () => {
  const echo = new Echo();
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [], false, POST));
  echo.session.streams.get(1)!.reset(0);
  echo.take();
  for (let stream = 3; stream < 1000; stream += 2) receive(echo, request(stream));
  echo.take();
  receive(echo, frame(FRAME.DATA, 0, 1, "late"), frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 1, block([["x-a", "1"]])));
  assert.deepEqual([frames(echo.take()), echo.session.isOver], [[], false]);
});

const PADDED = 0x8;

test("frames of data that hold only padding are frames without a purpose", () => {
  for (const padding of [0, 255]) {
    const echo = new Echo();
    receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [], false, POST));
    const piece = frame(FRAME.DATA, PADDED, 1, Buffer.alloc(1 + padding, 0).fill(padding, 0, 1));
    const many = Buffer.concat(Array.from({ length: 1_000 }, () => piece));
    for (let thousands = 0; thousands < 9; thousands++) receive(echo, many);
    assert.equal(echo.session.isOver, false);
    for (let thousands = 0; thousands < 2; thousands++) receive(echo, many);
    assert.equal(echo.session.isOver, true, `after eleven thousand frames with ${padding} bytes of padding`);
  }
});

const GOODBYE = frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8));
/** A frame that does nothing, however often it comes; after requests on 1, which is open, on 3, which has ended, and on 5, which was reset. */
const IDLE_FRAMES: Readonly<Record<string, Buffer>> = {
  "empty data": frame(FRAME.DATA, 0, 1),
  "padding alone": frame(FRAME.DATA, PADDED, 1, Buffer.of(3, 0, 0, 0)),
  settings: frame(FRAME.SETTINGS, 0, 0, Buffer.of(0, 3, 0, 0, 0, 1)),
  pings: frame(FRAME.PING, 0, 0, Buffer.alloc(8)),
  "answers to pings": frame(FRAME.PING, 1, 0, Buffer.alloc(8)),
  priorities: frame(FRAME.PRIORITY, 0, 5, Buffer.of(0, 0, 0, 0, 1)),
  "unknown types": frame(0x77, 0, 0, "x"),
  "windows of the connection": frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.of(0, 0, 0, 1)),
  "windows of a stream": frame(FRAME.WINDOW_UPDATE, 0, 1, Buffer.of(0, 0, 0, 1)),
  "windows of a closed stream": frame(FRAME.WINDOW_UPDATE, 0, 3, Buffer.of(0, 0, 0, 1)),
  "resets of a closed stream": frame(FRAME.RST_STREAM, 0, 3, Buffer.of(0, 0, 0, 8)),
  "heads of a reset stream": frame(FRAME.HEADERS, END_HEADERS | END_STREAM, 5, block([["x-a", "y"]])),
  goodbyes: GOODBYE,
  "data after a goodbye": frame(FRAME.DATA, 0, 7, "x"),
};
for (const [name, bytes] of Object.entries(IDLE_FRAMES))
  test(`a flood of frames without a purpose ends the connection with ENHANCE_YOUR_CALM: ${name}`, () => {
    const echo = new Echo();
    receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [], false, POST), request(3), request(5, [], false, POST));
    echo.session.streams.get(5)!.reset(0);
    if (name.endsWith("goodbye")) receive(echo, GOODBYE);
    let handled = 0;
    for (; handled < 10_100 && !echo.session.isOver; handled++) {
      receive(echo, bytes);
      if (handled % 100 === 0) echo.take();
    }
    assert.ok(echo.session.isOver, `${handled} frames`);
    const sent = echo.take();
    assert.equal(sent.readUInt32BE(sent.length - 4), 11);
  });

test("a client that goes on sending data of a stream that was reset loses the connection beyond what it could have sent before", () => {
  const echo = new Echo();
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [], false, POST));
  const window = Math.max(LIMITS.windowBytes, 65_535);
  echo.session.streams.get(1)!.reset(0);
  const piece = frame(FRAME.DATA, 0, 1, Buffer.alloc(1_000));
  for (let sent = 1_000; sent <= window; sent += 1_000) receive(echo, piece);
  assert.equal(echo.session.isOver, false);
  receive(echo, piece);
  assert.equal(echo.session.isOver, true);
});

test("if a client shrinks and enlarges the header table at once, the encoder announces both sizes and drops evicted entries", () => {
  const echo = new Echo();
  const sizes = Buffer.of(0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0);
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1, [["x-a", "1"]]));
  echo.take();
  receive(echo, frame(FRAME.SETTINGS, 0, 0, sizes), request(3, [["x-a", "1"]]));
  const said = echo.take();
  const head = said.indexOf(Buffer.of(FRAME.HEADERS, END_HEADERS | END_STREAM, 0, 0, 0, 3));
  // RFC 7541 §6.3: 0, then 4096.
  assert.deepEqual([...said.subarray(head + 6, head + 10)], [0x20, 0x3f, 0xe1, 0x1f]);
});

/** The client's end of a connection to a server that echoes. */
function echoServer(limits: Partial<SessionLimits>): Duplex {
  const [near, far] = duplexPair();
  let isDue = false;
  const send = (): void => {
    isDue = false;
    const bytes = echo.take();
    if (bytes.length > 0 && !far.destroyed) far.write(bytes);
  };
  const later = (): void => {
    if (isDue) return;
    isDue = true;
    setImmediate(send);
  };
  const echo: Echo = new Echo(later, limits);
  later();
  far.on("data", (bytes: Buffer) => echo.session.receive(bytes, bytes.length)).on("error", () => undefined);
  return near;
}

const fieldValue = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 40 });
const exchange = fc.record({
  fields: fc.dictionary(fc.constantFrom("x-a", "x-b", "x-c", "accept", "user-agent", "x-long-name-of-a-field"), fieldValue, { maxKeys: 5 }),
  cookies: fc.array(fc.constantFrom("a=1", "b=2", "c=3"), { maxLength: 3 }),
  body: fc.option(fc.nat({ max: 60_000 }), { nil: undefined }),
  trailers: fc.dictionary(fc.constantFrom("x-t", "x-u"), fieldValue, { maxKeys: 2 }),
});
const settings = fc.record({
  headerTableSize: fc.constantFrom(0, 100, 4096, 65_536),
  initialWindowSize: fc.constantFrom(1000, 65_535, 1_000_000),
  maxFrameSize: fc.constantFrom(16_384, 1_000_000),
});

test("node:http2 as a client gets an echo of its requests, for any settings", async () => {
  await fc.assert(
    fc.asyncProperty(settings, fc.array(exchange, { minLength: 1, maxLength: 6 }), async (clientSettings, exchanges) => {
      const socket = echoServer({ windowBytes: 30_000, windowBytesMax: 100_000 });
      const session = connect("http://example.com", { createConnection: () => socket, settings: clientSettings });
      await Promise.all(
        exchanges.map(async ({ fields, cookies, body, trailers }) => {
          const hasTrailers = body !== undefined && Object.keys(trailers).length > 0;
          const cookie = cookies.length === 0 ? {} : { cookie: cookies };
          const head = { ":method": body === undefined ? "GET" : "POST", ":path": "/", ...fields, ...cookie };
          const stream = session.request(head, { endStream: body === undefined, waitForTrailers: hasTrailers });
          if (hasTrailers) stream.on("wantTrailers", () => stream.sendTrailers(trailers));
          let [answered, trailing]: [IncomingHttpHeaders, IncomingHttpHeaders] = [{}, {}];
          stream.on("response", (got) => (answered = got)).on("trailers", (got) => (trailing = got));
          const sent = Buffer.alloc(body ?? 0, "0123456789");
          if (body !== undefined) stream.end(sent);
          const pieces: Buffer[] = [];
          stream.on("data", (piece: Buffer) => pieces.push(piece));
          await once(stream, "close");
          assert.equal(stream.rstCode, 0);
          assert.ok(Buffer.concat(pieces).equals(sent));
          assert.equal(answered["x-cookie"], cookies.length === 0 ? undefined : cookies.join("; "));
          for (const [name, value] of Object.entries(fields)) assert.equal(answered[name], value, name);
          assert.deepEqual(Object.entries(trailing), hasTrailers ? Object.entries(trailers) : []);
        }),
      );
      session.destroy();
      socket.destroy();
    }),
    { numRuns: 60 },
  );
});

test("a header block that goes on and on ends the connection, and its client does not send it again", () => {
  for (const draining of [false, true]) {
    const echo = new Echo();
    receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0), request(1));
    if (draining) echo.session.drain();
    echo.take();
    receive(echo, frame(FRAME.HEADERS, END_STREAM, 3, block([["x-a", "y"]])));
    for (let frames = 0; frames < 40 && !echo.session.isOver; frames++) receive(echo, frame(FRAME.CONTINUATION, 0, 3, Buffer.alloc(10)));
    const end = echo.take();
    assert.deepEqual([end.at(-14), end.readUInt32BE(end.length - 4)], [FRAME.GOAWAY, 11]);
    // Clients send streams above the last again on a new connection (RFC 9113 §6.8).
    assert.equal(end.readUInt32BE(end.length - 8), draining ? 1 : 3);
  }
});

const windowUpdate = (stream: number, increment: number): Buffer => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment);
  return frame(FRAME.WINDOW_UPDATE, 0, stream, payload);
};

for (const [name, stream] of [
  ["the connection", 0],
  ["a stream", 1],
] as const)
  test(`a flood of small WINDOW_UPDATE frames for ${name} ends the connection`, () => {
    const echo = new Echo();
    const noWindow = Buffer.of(0, 4, 0, 0, 0, 0);
    receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0, noWindow), request(1, [], false, POST));
    receive(echo, frame(FRAME.DATA, END_STREAM, 1, Buffer.alloc(15_000)));
    echo.take();
    let updates = 0;
    for (; updates < 14_000 && !echo.session.isOver; updates++) {
      receive(echo, windowUpdate(stream, 1));
      if (updates % 500 === 0) echo.take();
    }
    // The settings were one of the 10,000 frames.
    assert.equal(updates, 10_000);
    const end = echo.take();
    assert.deepEqual([end.at(-14), end.readUInt32BE(end.length - 4)], [FRAME.GOAWAY, 11]);
  });

test("a connection continues if its client returns the window of each small chunk", () => {
  const echo = new Echo();
  receive(echo, PREFACE, frame(FRAME.SETTINGS, 0, 0));
  for (let id = 1; id < 60_000; id += 2) {
    receive(echo, request(id, [], false, POST), frame(FRAME.DATA, END_STREAM, id, "0123456789"));
    receive(echo, windowUpdate(id, 10), windowUpdate(0, 10));
    echo.take();
  }
  assert.equal(echo.session.isOver, false);
});
