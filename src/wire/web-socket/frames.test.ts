import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { bytesOf, heardOf, type Heard, webSocketConversation } from "../../../test/support/web-socket-frames.ts";
import { ClientFrameReader, serverFrame, WebSocketError } from "./frames.ts";

/** A frame as a client sends it. */
function clientFrame(opcode: number, payload: Buffer, isFinal = true, mask = Buffer.from([1, 2, 3, 4])): Buffer {
  const { length } = payload;
  const head =
    length < 126 ? Buffer.from([length | 0x80]) : length < 65_536 ? Buffer.from([126 | 0x80, length >> 8, length & 0xff]) : Buffer.alloc(9);
  if (length >= 65_536) {
    head.writeUInt8(127 | 0x80, 0);
    head.writeBigUInt64BE(BigInt(length), 1);
  }
  const masked = Buffer.from(payload.map((byte, i) => byte ^ (mask[i & 3] as number)));
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode]), head, mask, masked]);
}

function read(
  chunks: readonly Buffer[],
  messageBytesMax = 200_000,
): { readonly texts: string[]; readonly pings: string[]; readonly closes: number } {
  const heard = { texts: [] as string[], pings: [] as string[], closes: 0 };
  let asked = 0;
  const reader = new ClientFrameReader(
    { onText: (text) => heard.texts.push(text), onPing: (payload) => heard.pings.push(payload.toString()), onClose: () => heard.closes++ },
    { messageBytesMax, takeTurn: () => ++asked % 3 !== 0 },
  );
  for (const chunk of chunks) for (let left = chunk; !reader.push(left);) left = Buffer.alloc(0);
  return heard;
}

const cutInto = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));

test("property: the reader joins messages from any number of frames, with pings between them, in chunks of any size", () => {
  const part = fc.string({ maxLength: 200, unit: "grapheme" });
  fc.assert(
    fc.property(
      fc.array(fc.array(part, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      (messages, size) => {
        const bytes = Buffer.concat(
          messages.flatMap((parts) =>
            parts.flatMap((text, i) => [
              clientFrame(i === 0 ? 1 : 0, Buffer.from(text), i === parts.length - 1),
              ...(i === 0 ? [clientFrame(9, Buffer.from("p"))] : []),
            ]),
          ),
        );
        const { texts, pings } = read(cutInto(bytes, size));
        assert.deepEqual(
          texts,
          messages.map((parts) => Buffer.from(parts.join("")).toString()),
        );
        assert.equal(pings.length, messages.length);
      },
    ),
    { numRuns: 100 },
  );
});

test("the reader accepts long messages and the close frame", () => {
  for (const length of [125, 126, 65_535, 65_536])
    assert.equal(read(cutInto(clientFrame(1, Buffer.alloc(length, "x")), 1000)).texts[0]?.length, length);
  assert.equal(read([clientFrame(8, Buffer.from([3, 232]))]).closes, 1);
});

test("the reader reports protocol violations with their close code", () => {
  const cases: readonly (readonly [Buffer, number])[] = [
    [serverFrame("text", Buffer.from("not masked")), 1002],
    [clientFrame(3, Buffer.from("x")), 1002],
    [clientFrame(0, Buffer.from("x")), 1002],
    [Buffer.concat([clientFrame(1, Buffer.from("x"), false), clientFrame(1, Buffer.from("y"))]), 1002],
    [clientFrame(9, Buffer.alloc(126)), 1002],
    [clientFrame(9, Buffer.alloc(1), false), 1002],
    [clientFrame(2, Buffer.from("x")), 1003],
    [clientFrame(1, Buffer.from([0xff])), 1007],
    [clientFrame(1, Buffer.alloc(11)), 1009],
    [Buffer.concat([clientFrame(1, Buffer.alloc(6), false), clientFrame(0, Buffer.alloc(6))]), 1009],
    [Buffer.from([0xc1, 0x80]), 1002],
  ];
  for (const [bytes, code] of cases)
    assert.throws(
      () => read([bytes], 10),
      (error) => error instanceof WebSocketError && error.code === code,
      `${code} ${bytes.toString("hex")}`,
    );
});

test("property: any frames in any chunks are handled as in RFC 6455, with the right close code", () => {
  const max = 500;
  fc.assert(
    fc.property(webSocketConversation, fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }), (frames, sizes) => {
      const bytes = Buffer.concat(frames.map(bytesOf));
      const events: string[] = [];
      let end: Heard["end"] = null;
      const reader = new ClientFrameReader(
        {
          onText: (text) => events.push(`text ${text}`),
          onPing: (payload) => events.push(`ping ${payload.toString("hex")}`),
          onClose: (code) => (end = { kind: "close", code }),
        },
        { messageBytesMax: max },
      );
      try {
        for (let at = 0, i = 0; at < bytes.length; i++) reader.push(Buffer.from(bytes.subarray(at, (at += sizes[i % sizes.length]!))));
      } catch (error) {
        if (!(error instanceof WebSocketError)) throw error;
        end = { kind: "fault", code: error.code };
      }
      assert.deepEqual({ events, end }, heardOf(frames, max));
    }),
    { numRuns: 3000 },
  );
});

test("each turn costs the same, however many frames of a chunk wait", () => {
  assertGrowsLinearly("a turn for each frame", (length) => () => {
    let isTurn = false;
    const handler = { onText: () => undefined, onPing: () => undefined, onClose: () => undefined };
    const reader = new ClientFrameReader(handler, { messageBytesMax: 1000, takeTurn: () => (isTurn = !isTurn) });
    const ping = clientFrame(9, Buffer.alloc(0));
    for (let left = Buffer.concat(Array.from({ length: length / 2 }, () => ping)); !reader.push(left);) left = Buffer.alloc(0);
  });
});
