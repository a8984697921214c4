import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { noted, pair, type Side } from "../../../test/support/tunnel-sessions.ts";
import { FRAME, frameHead, STREAMS_MAX } from "./frames.ts";

/** More than the kernel takes while nobody reads; to the other side, frames without a meaning. */
const MUCH = Buffer.alloc(32 * 2 ** 20);
const fill = ({ session }: Side): void => session.transport.sendKept("", MUCH, 0, MUCH.length);
const PING = frameHead(FRAME.ping, 0, 0);

test("a side that asks for answers and does not read them gets one", async () => {
  const { edge, connector } = await pair();
  connector.session.transport.pause();
  fill(edge);
  connector.session.transport.sendText(PING.repeat(10_000));
  await eventually(() => edge.session.transport.bytesRead >= 80_000);
  connector.session.transport.resume();
  await eventually(() => edge.session.transport.queuedBytes === 0);
  edge.session.open();
  await eventually(() => connector.streams.length === 1);
  const others = connector.session.transport.bytesRead - MUCH.length;
  assert.ok(others <= 3 * PING.length, `${others} bytes besides`);
});

test("a connection that is to end takes no streams, and ends although the other side only sends", async () => {
  const { edge, connector } = await pair();
  connector.session.transport.pause();
  fill(edge);
  edge.session.destroySoon();
  assert.ok(edge.session.open() === null, "a stream begins");
  for (const nowMs of [1_000, 4_000, 7_000]) {
    const before = edge.session.transport.bytesRead;
    connector.session.transport.sendText(PING);
    await eventually(() => edge.session.isOver || edge.session.transport.bytesRead > before);
    edge.session.check(nowMs);
  }
  assert.ok(edge.session.isOver, "it has not ended");
  await eventually(() => edge.codes.length === 1);
  assert.deepEqual(edge.codes, ["ETIMEDOUT"]);
});

test("a stream that asks whether there is room learns when there is, even if others have taken it", async () => {
  const { edge, connector } = await pair();
  const near = noted();
  const stream = edge.session.open()!;
  stream.attach(near);
  await eventually(() => near.events.includes("connected"));
  connector.session.transport.pause();
  fill(edge);
  assert.equal(stream.needsDrain, true);
  connector.session.transport.resume();
  await eventually(() => near.events.includes("drain"));
});

test("a side that has ended and gets room later does not end again", async () => {
  const { edge, connector } = await pair();
  const [near, far] = [noted(), noted()];
  const stream = edge.session.open()!;
  stream.attach(near);
  await eventually(() => connector.streams.length === 1);
  const other = connector.streams[0]!;
  other.attach(far);
  other.sendKept("", MUCH, 0, 200_000);
  other.end();
  await eventually(() => near.events.includes("end"));
  stream.sendText("more");
  await eventually(() => far.parts.length > 0 || edge.codes.length > 0);
  assert.deepEqual([edge.codes, far.parts.map(String)], [[], ["more"]]);
});

test("bytes of a stream that is not read wait in pieces of a fair size, however they came", async () => {
  const { edge, connector } = await pair();
  const near = noted();
  const stream = edge.session.open()!;
  stream.attach(near);
  await eventually(() => near.events.includes("connected"));
  stream.pause();
  const before = edge.session.transport.bytesRead;
  const [frame, count] = [`${frameHead(FRAME.data, stream.id, 1)}x`, 20_000];
  connector.session.transport.sendText(frame.repeat(count));
  await eventually(() => edge.session.transport.bytesRead === before + frame.length * count);
  stream.resume();
  await eventually(() => near.parts.reduce((sum, part) => sum + part.length, 0) === count);
  assert.ok(near.parts.length < 100, `${near.parts.length} pieces`);
});

test("bytes that come singly are handed on together, in order, and before the end or the reset that follows them", async () => {
  for (const [last, ends] of [
    [FRAME.end, ["connected", "end"]],
    [FRAME.reset, ["connected", "closed ECONNRESET"]],
  ] as const) {
    const { edge, connector } = await pair();
    const near = noted();
    const stream = edge.session.open()!;
    stream.attach(near);
    await eventually(() => near.events.includes("connected"));
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at % 251)).toString("latin1");
    const frames = [...bytes].map((byte) => frameHead(FRAME.data, stream.id, 1) + byte).join("");
    connector.session.transport.sendText(frames + frameHead(last, stream.id, 0));
    await eventually(() => near.events.length === 2);
    assert.deepEqual(near.events, ends);
    assert.ok(Buffer.concat(near.parts).toString("latin1") === bytes, "other bytes");
    assert.ok(near.parts.length < 1_000, `${near.parts.length} parts`);
  }
});

test("bytes of a stream that was not accepted end the connection", async () => {
  for (const text of [`${frameHead(FRAME.data, 1, 1)}x`, frameHead(FRAME.end, 1, 0)]) {
    const { edge, connector } = await pair();
    connector.session.transport.pause();
    edge.session.open()!.attach(noted());
    connector.session.transport.sendText(text);
    await eventually(() => edge.codes.length === 1);
    assert.deepEqual(edge.codes, ["EPROTO"]);
  }
});

test("a stream too many is refused alone, since the last bytes of another one may still be read", async () => {
  const { edge, connector } = await pair();
  const first = edge.session.open()!;
  first.attach(noted());
  while (edge.session.streams.size < STREAMS_MAX) edge.session.open()!.attach(noted());
  await eventually(() => connector.streams.length === STREAMS_MAX);
  first.sendText("late");
  first.destroySoon();
  await eventually(() => edge.session.streams.size === STREAMS_MAX - 1);
  const near = noted();
  edge.session.open()!.attach(near);
  await eventually(() => near.events.includes("closed ECONNRESET"));
  assert.deepEqual([edge.codes, connector.codes], [[], []]);
});
