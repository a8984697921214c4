import assert from "node:assert/strict";
import { test } from "node:test";
import { frame, FRAME, POST, request } from "../../../test/support/http2-frames.ts";
import { fc } from "../../../test/support/property.ts";
import { CHUNK_BYTES } from "./chunk-pool.ts";
import { PendingChunks } from "./pending-chunks.ts";
import { Session, type SessionOwner } from "./session.ts";
import type { ServerStream } from "./stream.ts";
import { WindowBudget, type WindowLimits } from "./window-budget.ts";

const FIRST = 32_768;
const MOST = 524_288;
const BUDGET: WindowLimits = { connectionBytesMax: 1_000_000, addressBytesMax: 2_000_000, bytesMax: 4_000_000 };
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const ZEROS = Buffer.alloc(4_096);

/** A connection whose client sends bodies and keeps the windows of RFC 9113 §6.9. */
class Uploads implements SessionOwner {
  nowMs = 0;
  readonly session: Session;
  readonly streams: ServerStream[] = [];
  /** Bytes that the client may send, by stream. */
  readonly windows = new Map<number, number>();

  constructor(budget: WindowBudget, address: string, count: number) {
    const limits = { streamsMax: 200, headBytesMax: 65_536, fieldsMax: 200, resetsMax: 1000, resetsPerSecond: 0, allowsWebSockets: true };
    this.session = new Session(this, { ...limits, windowBytes: FIRST, windowBytesMax: MOST }, budget.forConnection(address));
    this.receive(Buffer.concat([PREFACE, frame(FRAME.SETTINGS, 0, 0)]));
    for (let i = 0; i < count; i++) {
      this.windows.set(2 * i + 1, FIRST);
      this.receive(request(2 * i + 1, [], false, POST));
    }
  }

  onRequest(stream: ServerStream): void {
    const ignore = (): void => undefined;
    stream.handler = { onData: ignore, onEnd: ignore, onDrain: ignore, onMalformed: ignore, onClose: ignore };
    this.streams.push(stream);
  }

  onOutput(): void {}
  onSettled(): void {}
  onAcknowledged(): void {}
  onDraining(): void {}
  onFault(): void {}

  /** Sends `bytes` of a stream's body, as far as its window allows, with a time step before each frame. */
  upload(stream: ServerStream, bytes: number, msPerFrame: number): void {
    for (let left = bytes; left > 0;) {
      const length = Math.min(left, ZEROS.length, this.windows.get(stream.id) ?? 0);
      if (length === 0) return;
      this.nowMs += msPerFrame;
      this.windows.set(stream.id, this.windows.get(stream.id)! - length);
      this.receive(frame(FRAME.DATA, 0, stream.id, ZEROS.subarray(0, length)));
      this.readUpdates();
      left -= length;
    }
  }

  get promised(): number {
    let bytes = 0;
    for (const window of this.windows.values()) bytes += window;
    return bytes;
  }

  private receive(bytes: Buffer): void {
    this.session.receive(bytes, bytes.length);
  }

  private readUpdates(): void {
    const { output } = this.session;
    for (let chunk = output.take(); chunk !== null; chunk = output.take()) {
      const { buffer, length } = chunk;
      for (let at = 0; at < length; at += 9 + buffer.readUIntBE(at, 3)) {
        const id = buffer.readUInt32BE(at + 5);
        const window = this.windows.get(id);
        if (buffer[at + 3] === FRAME.WINDOW_UPDATE && window !== undefined) this.windows.set(id, window + buffer.readUInt32BE(at + 9));
      }
      output.release(chunk);
    }
  }
}

test("the window of an upload grows up to its limit while the origin keeps up, and is returned to the budget at the end", () => {
  const budget = new WindowBudget(BUDGET);
  const uploads = new Uploads(budget, "192.0.2.1", 1);
  const [stream] = uploads.streams;
  uploads.upload(stream!, 2_000_000, 1);
  assert.equal(budget.bytes, MOST - FIRST);
  assert.ok(uploads.promised > MOST / 2 && uploads.promised <= MOST, String(uploads.promised));
  assert.equal(uploads.session.isOver, false);
  uploads.session.stop();
  assert.equal(budget.bytes, 0);
});

test("1,000 slow uploads keep their initial window", () => {
  const budget = new WindowBudget(BUDGET);
  for (let connection = 0; connection < 10; connection++) {
    const uploads = new Uploads(budget, "192.0.2.1", 100);
    // 4 KiB in 200 ms: half of a window in 800.
    for (const stream of uploads.streams) uploads.upload(stream, 100_000, 200);
    assert.ok(uploads.promised <= 100 * FIRST);
  }
  assert.equal(budget.bytes, 0);
});

test("an upload that waits for its origin keeps its initial window", () => {
  const budget = new WindowBudget(BUDGET);
  const uploads = new Uploads(budget, "192.0.2.1", 1);
  const [stream] = uploads.streams;
  for (let i = 0; i < 100; i++) {
    uploads.upload(stream!, 4_096, 1);
    stream!.lag();
    stream!.resume();
  }
  assert.deepEqual([budget.bytes, uploads.promised <= FIRST], [0, true]);
});

test("1,000 uploads that are fast until their origins stop stay within the limits of connection, address and process", () => {
  const budget = new WindowBudget(BUDGET);
  const all: Uploads[] = [];
  for (let connection = 0; connection < 10; connection++) {
    const uploads = new Uploads(budget, `192.0.2.${connection >> 2}`, 100);
    all.push(uploads);
    for (const stream of uploads.streams) uploads.upload(stream, 200_000, 1);
    assert.ok(uploads.promised <= 100 * FIRST + BUDGET.connectionBytesMax);
  }
  const ofFirst = all.slice(0, 4).reduce((sum, { promised }) => sum + promised, 0);
  assert.ok(ofFirst <= 400 * FIRST + BUDGET.addressBytesMax);
  assert.ok(all.reduce((sum, { promised }) => sum + promised, 0) <= 1000 * FIRST + BUDGET.bytesMax);
  assert.ok(budget.bytes > BUDGET.bytesMax / 2 && budget.bytes <= BUDGET.bytesMax);
  // Nothing more is taken from now on, and each client sends as much as it may.
  for (const uploads of all) {
    const { session, streams } = uploads;
    for (const stream of streams) {
      stream.lag();
      uploads.upload(stream, MOST, 1);
    }
    assert.deepEqual([uploads.promised, session.isOver, session.streams.size], [0, false, 100]);
    session.stop();
  }
  assert.equal(budget.bytes, 0);
});

test("property: pending bytes are taken in the order in which they were appended, in any chunks", () => {
  const step = fc.record({ appended: fc.nat({ max: 3 * CHUNK_BYTES }), taken: fc.nat({ max: 2 * CHUNK_BYTES }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      const pending = new PendingChunks();
      let [put, got] = [0, 0];
      for (const { appended, taken } of steps) {
        const piece = Buffer.from(Array.from({ length: appended }, (_, i) => (put + i) % 251));
        pending.append(piece, 0, appended);
        put += appended;
        for (let left = taken; left > 0 && pending.length > 0;) {
          const length = Math.min(left, pending.end - pending.start);
          for (let i = 0; i < length; i++) if (pending.buffer[pending.start + i] !== (got + i) % 251) assert.fail(`at ${got + i}`);
          pending.drop(length);
          got += length;
          left -= length;
        }
        assert.equal(pending.length, put - got);
      }
      pending.clear();
      assert.equal(pending.length, 0);
    }),
    { numRuns: 15 },
  );
});
