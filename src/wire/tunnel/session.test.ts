import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { fc } from "../../../test/support/property.ts";
import { noted, pair } from "../../../test/support/tunnel-sessions.ts";
import { FRAME, frameHead, TunnelFrameReader, STREAM_WINDOW_BYTES, TunnelFault } from "./frames.ts";

test("property: frames are the same however their bytes are split", () => {
  const frame = fc.record({
    kind: fc.constantFrom(FRAME.data, FRAME.window, FRAME.ping),
    stream: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    payload: fc.uint8Array({ maxLength: 40 }),
  });
  const read = (pieces: readonly Buffer[]): readonly string[] => {
    const found: string[] = [];
    const data = new Map<number, string>();
    const reader = new TunnelFrameReader({
      isOver: false,
      onFrame: (kind, stream, payload) => void found.push(`${kind} ${stream} ${payload.toString("hex")}`),
      onData: (stream, bytes, start, end) => data.set(stream, (data.get(stream) ?? "") + bytes.toString("hex", start, end)),
    });
    for (const piece of pieces) reader.feed(piece, piece.length);
    return [...found, ...data].map(String);
  };
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 20 }), (frames, cuts) => {
      const bytes = Buffer.concat(
        frames.flatMap(({ kind, stream, payload }) => [Buffer.from(frameHead(kind, stream, payload.length), "latin1"), payload]),
      );
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) pieces.push(bytes.subarray(at, (at += cut)));
      assert.deepEqual(read([...pieces, bytes.subarray(at)]), read([bytes]));
    }),
  );
});

test("a stream carries bytes both ways, ends in halves, and is gone", async () => {
  const { edge, connector } = await pair();
  const [near, far] = [noted(), noted()];
  const stream = edge.session.open()!;
  stream.attach(near);
  stream.sendText("question");
  stream.end();
  await eventually(() => connector.streams.length === 1);
  const other = connector.streams[0]!;
  other.attach(far);
  await eventually(() => far.events.includes("end"));
  assert.equal(Buffer.concat(far.parts).toString(), "question");
  other.sendText("answer");
  other.end();
  await eventually(() => near.events.includes("closed") && far.events.includes("closed"));
  assert.deepEqual([near.events, Buffer.concat(near.parts).toString()], [["connected", "end", "closed"], "answer"]);
  assert.deepEqual([edge.session.streams.size, connector.session.streams.size], [0, 0]);
});

test("a stream that nobody reads takes no more than its window, and holds up no other one", async () => {
  const { edge, connector } = await pair();
  const streams = [edge.session.open()!, edge.session.open()!] as const;
  const near = streams.map((stream) => {
    const handler = noted();
    stream.attach(handler);
    return handler;
  });
  await eventually(() => connector.streams.length === 2);
  const [stuck, moving] = [noted(), noted()];
  connector.streams[0]!.attach(stuck);
  connector.streams[1]!.attach(moving);
  connector.streams[0]!.pause();
  const bytes = randomBytes(4 * STREAM_WINDOW_BYTES);
  for (const stream of streams) stream.sendKept("", bytes, 0, bytes.length);
  await eventually(() => moving.parts.reduce((sum, part) => sum + part.length, 0) === bytes.length);
  assert.ok(Buffer.concat(moving.parts).equals(bytes));
  assert.equal(streams[0].queuedBytes, 3 * STREAM_WINDOW_BYTES);
  assert.equal(stuck.parts.length, 0);
  connector.streams[0]!.resume();
  await eventually(() => near[0]!.events.includes("drain"));
  await eventually(() => stuck.parts.reduce((sum, part) => sum + part.length, 0) === bytes.length);
  assert.ok(Buffer.concat(stuck.parts).equals(bytes));
});

test("a stream that is given up, and a connection that ends, close streams on the other side", async () => {
  const { edge, connector } = await pair();
  const [first, second] = [noted(), noted()];
  for (const handler of [first, second]) edge.session.open()!.attach(handler);
  await eventually(() => connector.streams.length === 2);
  for (const stream of connector.streams) stream.attach(noted());
  connector.streams[0]!.destroy();
  await eventually(() => first.events.includes("closed ECONNRESET"));
  connector.session.destroy("");
  await eventually(() => second.events.includes("closed ECONNRESET") && edge.codes.length === 1);
  assert.equal(edge.session.open(), null);
});

test("short frames of a tick leave in one write, in order with longer ones, and before an end of the connection", async () => {
  const { edge, connector } = await pair();
  const { transport } = edge.session;
  const writes: string[] = [];
  let isInside = false;
  for (const name of ["sendText", "sendShared", "sendKept"] as const) {
    const send = transport[name].bind(transport) as (...given: unknown[]) => void;
    const noting = (...given: unknown[]): void => {
      if (isInside) return send(...given);
      writes.push(name);
      isInside = true;
      send(...given);
      isInside = false;
    };
    Object.assign(transport, { [name]: noting });
  }
  const streams = Array.from({ length: 20 }, () => edge.session.open()!);
  for (const [index, stream] of streams.entries()) {
    stream.attach(noted());
    stream.sendText(`request ${index}`);
  }
  await eventually(() => connector.streams.length === streams.length);
  assert.deepEqual(writes, ["sendText"]);
  const far = connector.streams.map((stream) => {
    const handler = noted();
    stream.attach(handler);
    return handler;
  });
  const text = (index: number): string => Buffer.concat(far[index]!.parts).toString("latin1");
  await eventually(() => far.every((_, index) => text(index) === `request ${index}`));
  const long = Buffer.alloc(50_000, "l");
  streams[0]!.sendText(", head");
  streams[0]!.sendKept("", long, 0, long.length);
  streams[1]!.sendText(", the last");
  streams[0]!.sendText(", tail");
  edge.session.destroySoon();
  await eventually(() => connector.codes.length === 1);
  assert.deepEqual(writes, ["sendText", "sendKept", "sendText"]);
  assert.equal(text(0), `request 0, head${long.toString("latin1")}, tail`);
  assert.equal(text(1), "request 1, the last");
});

test("a side that breaks the protocol loses the connection", async () => {
  const broken = [
    frameHead(FRAME.open, 1, 0),
    frameHead(99, 0, 0) + frameHead(FRAME.ping, 0, 60_000),
    frameHead(FRAME.accept, 1, 0) + frameHead(FRAME.accept, 1, 0),
    frameHead(FRAME.end, 1, 0) + frameHead(FRAME.end, 1, 0),
    frameHead(FRAME.data, 1, STREAM_WINDOW_BYTES + 1) + "x".repeat(STREAM_WINDOW_BYTES + 1),
    frameHead(FRAME.window, 1, 4) + "\xff\xff\xff\xff",
  ];
  for (const text of broken) {
    const { edge, connector } = await pair();
    const handler = noted();
    const stream = edge.session.open()!;
    stream.attach(handler);
    // Its bytes are not read, so that they count against the window.
    stream.pause();
    connector.session.transport.sendText(text);
    await eventually(() => edge.codes.length === 1);
    assert.deepEqual(edge.codes, ["EPROTO"], JSON.stringify(text.slice(0, 20)));
  }
  assert.throws(
    () => new TunnelFrameReader({ isOver: false, onFrame: () => undefined, onData: () => undefined }).feed(LONG, LONG.length),
    TunnelFault,
  );
});
const LONG = Buffer.from(frameHead(FRAME.hello, 0, 1_000_000), "latin1");
