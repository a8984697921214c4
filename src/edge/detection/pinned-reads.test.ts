import assert from "node:assert/strict";
import { test } from "node:test";
import { PlainChannel } from "#wire/connections/epoll/channel.ts";
import { keepForSecure } from "#wire/connections/buffers/pinned-buffers.ts";
import { SLOT_BYTES, bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import { SECURE_BUFFER } from "#wire/connections/buffers/secure-buffer.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { inOneTick } from "#kernel/process/tick-queue.ts";
import { fc } from "../../../test/support/property.ts";
import { DeferredTee } from "./deferred-tee.ts";
import { BufferUser, BufferPool } from "./shared-buffers.ts";
import { createRing, createRingReader, createRingWriter } from "./ring.ts";

const calls = await loadSocketCalls();
const skip = calls === null && "koffi does not load here";
const SOCKETS = 5;

/** A read of a socket. Its bytes belong to a response, which ends, breaks off or goes on, or to none. */
const read = fc.record({
  kind: fc.constant("read" as const),
  fd: fc.nat({ max: SOCKETS - 1 }),
  isSecure: fc.boolean(),
  length: fc.oneof(fc.integer({ min: 1, max: 16_000 }), fc.constantFrom(0, 16_384, 65_536, SLOT_BYTES)),
  fate: fc.constantFrom("go on", "finish", "finish", "finish", "abort", "ignore"),
});
const step = fc.oneof(
  { weight: 12, arbitrary: read },
  { weight: 2, arbitrary: fc.constant({ kind: "send" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "turn" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "detect" } as const) },
);

test("property: for any order of reads and ticks, the detector gets the bytes that sockets read", { skip }, () => {
  let [lent, aside] = [0, 0];
  const property = fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
    const lender = new BufferPool(calls!.placeIn);
    const ring = createRing(64 * 1024 * 1024);
    const borrower = new BufferUser(lender.memory);
    const counted = Object.assign(Object.create(borrower) as BufferUser, {
      giveBack: (place: number, length: number) => {
        lent++;
        borrower.giveBack(place, length);
      },
    });
    const writer = createRingWriter(ring, { endsMax: 64, lender, wake: () => undefined });
    const reader = createRingReader(ring, counted);
    /** By response: its runs of one byte with their lengths, and whether they have no other byte; as sent and as received. */
    const [came, got] = [new Map<number, string[]>(), new Map<number, string[]>()];
    const note = (map: Map<number, string[]>, job: number, bytes: Uint8Array): void => {
      if (bytes.length === 0) return;
      const [first] = bytes;
      const isWhole = Buffer.compare(bytes, Buffer.alloc(bytes.length, first)) === 0;
      const all = map.get(job) ?? [];
      if (!map.has(job)) map.set(job, all);
      // Lent and copied pieces may be cut at different places.
      const last = all.pop()?.split(" ");
      if (last === undefined) all.push(`${first} ${bytes.length} ${isWhole}`);
      else if (last[0] === `${first}`) all.push(`${first} ${Number(last[1]) + bytes.length} ${isWhole && last[2] === "true"}`);
      else all.push(last.join(" "), `${first} ${bytes.length} ${isWhole}`);
    };
    const detect = (): void => void reader.read(Number.POSITIVE_INFINITY, ({ job, bytes }) => note(got, job, bytes));
    let [fill, jobs] = [0, 0];
    const responses = new Map<number, { readonly job: number; readonly tap: DeferredTee }>();
    const begin = (): { readonly job: number; readonly tap: DeferredTee } => {
      const job = ++jobs;
      const write = (bytes: Uint8Array, start: number, end: number, isEnd: boolean): void => {
        for (let at = start; at < end; at += 64 * 1024) {
          const until = writer.lends(bytes, at, end) ? end : Math.min(at + 64 * 1024, end);
          assert.ok(writer.write(job, 0, "", bytes, at, until, isEnd && until === end));
          if (until === end) break;
        }
      };
      const body = {
        chunk: (bytes: Uint8Array, start: number, end: number) => write(bytes, start, end, false),
        last: (bytes: Uint8Array, start: number, end: number) => write(bytes, start, end, true),
        end: () => undefined,
        abort: () => undefined,
      };
      return { job, tap: new DeferredTee({ begin: () => body, report: (error) => assert.fail(String(error)) }) };
    };
    const plain = new PlainChannel({
      ...calls!,
      receive: (_fd, bytesMax) => {
        bufferSlots.forRead().buffer.fill(fill, 0, bytesMax);
        return bytesMax;
      },
    });
    const readFrom = (fd: number, isSecure: boolean, length: number): Buffer => {
      fill = (fill % 250) + 1;
      if (!isSecure) {
        plain.receive(fd, length);
        return plain.read;
      }
      keepForSecure();
      return SECURE_BUFFER.fill(fill, 0, length);
    };
    const doRead = ({ fd, isSecure, length: asked, fate }: typeof read extends fc.Arbitrary<infer Read> ? Read : never): void => {
      const length = isSecure ? Math.min(asked, SECURE_BUFFER.length) : asked;
      const home = bufferSlots.current;
      const buffer = readFrom(fd, isSecure, length);
      if (bufferSlots.current !== home) aside++;
      if (fate === "ignore") return;
      const response = responses.get(fd) ?? begin();
      note(came, response.job, buffer.subarray(0, length));
      response.tap.chunk(buffer, 0, length);
      if (fate === "go on") responses.set(fd, response);
      else {
        responses.delete(fd);
        if (fate === "finish") response.tap.finish();
        else response.tap.abort();
      }
    };
    const left = [...steps];
    /** Runs the steps up to the next send, and returns true, or up to the end of the turn. */
    const part = (): boolean => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        if (next.kind === "send") return true;
        if (next.kind === "turn") return false;
        if (next.kind === "detect") detect();
        else doRead(next);
      }
      return false;
    };
    while (left.length > 0) inOneTick(part, part);
    detect();
    assert.deepEqual(got, came);
  });
  fc.assert(property, { numRuns: 300 });
  assert.ok(lent > 0 && aside > 0);
});
