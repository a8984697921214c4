import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { MaskedMessages } from "./masked-messages.ts";

const KEY = "sk-Ab/é012345678901234567890123456789";
const [TEXT, BINARY, CLOSE, PING] = [1, 2, 8, 9];

function frame(code: number, payload: Buffer | string, isLast = true): Buffer {
  const bytes = Buffer.from(payload);
  const head = bytes.length < 126 ? Buffer.of(0, bytes.length) : Buffer.alloc(4);
  if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(bytes.length, 2);
  }
  head[0] = code | (isLast ? 0x80 : 0);
  return Buffer.concat([head, bytes]);
}

const delta = (type: string, text: string): string => JSON.stringify({ type, item_id: "i", delta: text });
const textDelta = (text: string): Buffer => frame(TEXT, delta("response.output_text.delta", text));

interface Message {
  readonly code: number;
  readonly payload: Buffer;
}

/** The messages of whole frames. */
function messagesOf(bytes: Buffer): readonly Message[] {
  const messages: Message[] = [];
  let parts: Message[] = [];
  for (let at = 0; at < bytes.length;) {
    const short = bytes[at + 1] as number;
    const head = short === 126 ? 4 : 2;
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    const [code, payload] = [(bytes[at] as number) & 0x0f, bytes.subarray(at + head, at + head + length)];
    if (code >= CLOSE) messages.push({ code, payload });
    else parts.push({ code, payload });
    if (code < CLOSE && ((bytes[at] as number) & 0x80) !== 0) {
      messages.push({ code: parts[0]!.code, payload: Buffer.concat(parts.map((part) => part.payload)) });
      parts = [];
    }
    at += head + length;
  }
  assert.equal(parts.length, 0, "all messages end");
  return messages;
}

const said = (bytes: Buffer, type = "response.output_text.delta"): string =>
  messagesOf(bytes)
    .filter(({ code }) => code === TEXT)
    .map(({ payload }) => JSON.parse(payload.toString()))
    .filter((message) => message.type === type)
    .map((message) => message.delta)
    .join("");

function passed(chunks: readonly Buffer[]): readonly Buffer[] {
  let asked = 0;
  const mask = new MaskedMessages([KEY], { isLeft: () => ++asked % 3 !== 0, spend: () => undefined });
  const shown: Buffer[] = [];
  for (const chunk of chunks) {
    shown.push(mask.push(chunk));
    while (mask.isBehind) shown.push(mask.push(Buffer.alloc(0)));
  }
  return [...shown, mask.end()];
}

test("property: a key in any chunks of messages is masked except for two characters, and everything else passes unchanged, in order", () => {
  const part = fc.oneof(
    fc.constant(KEY),
    fc.string({ maxLength: 12 }),
    fc.integer({ min: 1, max: 30 }).map((length) => KEY.slice(0, length)),
  );
  const between = fc.constantFrom("nothing", "audio", "binary", "ping", "fragments");
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      fc.infiniteStream(between),
      fc.array(fc.nat(6_000)),
      (parts, sizes, others, cuts) => {
        const text = Array.from(parts.join(" "));
        const frames: Buffer[] = [];
        while (text.length > 0) {
          const message = delta("response.output_text.delta", text.splice(0, sizes.next().value as number).join(""));
          const other = others.next().value as string;
          if (other === "fragments") frames.push(frame(TEXT, message.slice(0, 9), false), frame(PING, "p"), frame(0, message.slice(9)));
          else frames.push(frame(TEXT, message));
          if (other === "audio") frames.push(frame(TEXT, delta("response.audio.delta", `${"AAAAsk-A".repeat(20)}A`)));
          if (other === "binary") frames.push(frame(BINARY, Buffer.from([0, 255, 1])));
          if (other === "ping") frames.push(frame(PING, "p"));
        }
        frames.push(frame(CLOSE, Buffer.from([3, 232])));
        const bytes = Buffer.concat(frames);
        const ends = [...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
        const shown = Buffer.concat(passed(ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))));
        const [given, got] = [said(bytes), said(shown)];
        const [givenBytes, gotBytes] = [Buffer.from(given), Buffer.from(got)];
        assert.equal(shown.length, bytes.length);
        assert.ok(!got.includes(KEY.slice(2)), got);
        assert.ok(gotBytes.every((byte, i) => byte === givenBytes[i] || byte === 0x2a));
        assert.equal(said(shown, "response.audio.delta"), said(bytes, "response.audio.delta"));
        const kinds = (of: Buffer): readonly number[] => messagesOf(of).map(({ code }) => code);
        assert.deepEqual(
          kinds(shown).filter((code) => code !== PING),
          kinds(bytes).filter((code) => code !== PING),
        );
        assert.equal(kinds(shown).length, kinds(bytes).length);
        if (!given.includes(KEY.slice(0, 19))) assert.equal(got, given);
      },
    ),
    { numRuns: 300 },
  );
});

test("a message is held only while its text may begin a key, or until it is released", () => {
  const mask = new MaskedMessages([KEY]);
  const steps = ["It is", " sk", "-", "ate", " on sk-", ""].map((text) => said(mask.push(textDelta(text))));
  assert.deepEqual(steps, ["It is", " sk", "", "-ate", "", ""]);
  assert.ok(mask.isHolding);
  assert.equal(said(mask.release()), " on sk-");
  assert.ok(!mask.isHolding);
});

test("a key said in slow messages is masked except for its first characters, and in fragments and binary JSON as well", () => {
  const mask = new MaskedMessages([KEY]);
  const shown = Array.from(KEY).map((character) => Buffer.concat([mask.push(textDelta(character)), mask.release()]));
  assert.match(said(Buffer.concat([...shown, mask.end()])), /^sk-Ab\/é\*{30}$/);
  const halves = [KEY.slice(0, 9), KEY.slice(9)].map((half) => JSON.stringify({ serverContent: { parts: [{ text: half }] } }));
  for (const code of [TEXT, BINARY]) {
    const frames = halves.flatMap((half) => [frame(code, half.slice(0, 37), false), frame(0, half.slice(37))]);
    assert.doesNotMatch(Buffer.concat(passed(frames)).toString(), /Ab|0123|3456/);
  }
});

test("a frame above the limit and an invalid frame pass unchanged", () => {
  const long = Buffer.concat([Buffer.of(0x82, 127, 0, 0, 0, 0, 0, 5, 0, 0), Buffer.alloc(5 * 65_536, 7)]);
  const masked = Buffer.of(0x81, 0x82, 1, 2, 3, 4, 5, 6);
  const bytes = Buffer.concat([textDelta("on sk-"), long, textDelta("Ab/"), masked, Buffer.from(KEY)]);
  const half = bytes.length >> 1;
  assert.ok(Buffer.concat(passed([bytes.subarray(0, half), bytes.subarray(half)])).equals(bytes));
});

test("a message of hundreds of thousands of empty frames passes unchanged", () => {
  const bytes = Buffer.concat([frame(TEXT, "", false), Buffer.alloc(600_000), frame(0, ""), textDelta("and on")]);
  assert.ok(Buffer.concat(passed([bytes])).equals(bytes));
});

test("each turn costs the same, however many frames of a chunk wait", () => {
  assertGrowsLinearly("a turn for each frame", (length) => () => {
    let isTurn = false;
    const mask = new MaskedMessages([KEY], { isLeft: () => (isTurn = !isTurn), spend: () => undefined });
    mask.push(Buffer.concat(Array.from({ length: length / 2 }, () => frame(PING, ""))));
    while (mask.isBehind) mask.push(Buffer.alloc(0));
  });
});

test("frames of one chunk are read in turns, in order", () => {
  let turns = 0;
  const mask = new MaskedMessages([KEY], { isLeft: () => turns-- > 0, spend: () => undefined });
  const bytes = Buffer.concat([...Array.from({ length: 1000 }, () => frame(PING, "")), textDelta("x")]);
  assert.equal(mask.push(bytes).length, 0);
  assert.ok(mask.isBehind);
  turns = 10;
  assert.equal(mask.push(Buffer.alloc(0)).length, 20);
  turns = 5000;
  assert.equal(mask.push(Buffer.alloc(0)).length, bytes.length - 20);
  assert.ok(!mask.isBehind);
});
