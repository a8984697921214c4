import { fc } from "./property.ts";

/** A frame as a client may send it, sound or not (RFC 6455 §5.2). */
export interface SentFrame {
  readonly isFinal: boolean;
  readonly reserved: number;
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly payload: Buffer;
  /** The length in its header, if it differs from the payload's. */
  readonly said: bigint | undefined;
  /** Bytes of the longer length field if the shortest form is not used. */
  readonly form: 0 | 2 | 8 | undefined;
}

/** Result of a conversation: messages and pings in order, and how it ends; null if it stays open. */
export interface Heard {
  readonly events: readonly string[];
  readonly end: { readonly kind: "close"; readonly code: number | null } | { readonly kind: "fault"; readonly code: number } | null;
}

const MASK = Buffer.of(0x37, 0xfa, 0x21, 0x3d);
const formOf = (length: bigint): 0 | 2 | 8 => (length < 126n ? 0 : length < 65_536n ? 2 : 8);

export function bytesOf({ isFinal, reserved, opcode, isMasked, payload, said, form }: SentFrame): Buffer {
  const length = said ?? BigInt(payload.length);
  const written = form ?? formOf(length);
  const head = Buffer.alloc(2 + written);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (written === 0 ? Number(length) : written === 2 ? 126 : 127);
  if (written === 2) head.writeUInt16BE(Number(length), 2);
  if (written === 8) head.writeBigUInt64BE(length, 2);
  const body = isMasked ? Buffer.from(payload.map((byte, i) => byte ^ MASK[i & 3]!)) : payload;
  return Buffer.concat([head, isMasked ? MASK : Buffer.alloc(0), body]);
}

/** RFC 6455 as a table in order of precedence, written independently of the reader. */
function faultOf(frame: SentFrame, heldBytes: number | null, messageBytesMax: number): number | null {
  const { isFinal, reserved, opcode, isMasked, payload, said, form } = frame;
  const length = said ?? BigInt(payload.length);
  const isControl = opcode >= 8;
  const rules: readonly (readonly [boolean, number])[] = [
    [reserved !== 0 || (opcode > 2 && opcode < 8) || opcode > 10, 1002],
    [!isMasked, 1002],
    [(form ?? formOf(length)) !== formOf(length) || length >= 2n ** 63n, 1002],
    [isControl && (!isFinal || length > 125n), 1002],
    [!isControl && (opcode === 0) !== (heldBytes !== null), 1002],
    [!isControl && BigInt(heldBytes ?? 0) + length > BigInt(messageBytesMax), 1009],
  ];
  return rules.find(([isBroken]) => isBroken)?.[1] ?? null;
}

const CLOSE_CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014];
const isCloseCode = (code: number): boolean => CLOSE_CODES.includes(code) || (code >= 3000 && code < 5000);
const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString("utf8")).equals(bytes);

/** The expected result of these frames at a server that only accepts text. */
export function heardOf(frames: readonly SentFrame[], messageBytesMax: number): Heard {
  const events: string[] = [];
  let held: Buffer[] | null = null;
  const over = (code: number): Heard => ({ events, end: { kind: "fault", code } });
  for (const frame of frames) {
    const { isFinal, opcode, payload, said } = frame;
    const fault = faultOf(frame, held?.reduce((bytes, piece) => bytes + piece.length, 0) ?? null, messageBytesMax);
    if (fault !== null) return over(fault);
    // The frame is incomplete, and the reader waits for the rest.
    if (said !== undefined && said > BigInt(payload.length)) return { events, end: null };
    if (opcode === 8) {
      const code = payload.length < 2 ? null : payload.readUInt16BE(0);
      if (payload.length === 1 || (code !== null && !isCloseCode(code))) return over(1002);
      return isUtf8(payload.subarray(2)) ? { events, end: { kind: "close", code } } : over(1007);
    }
    if (opcode === 9) events.push(`ping ${payload.toString("hex")}`);
    if (opcode > 8) continue;
    if (opcode === 2) return over(1003);
    held = [...(held ?? []), payload];
    if (!isFinal) continue;
    const message = Buffer.concat(held);
    held = null;
    if (!isUtf8(message)) return over(1007);
    events.push(`text ${message.toString("utf8")}`);
  }
  return { events, end: null };
}

const sound = { isFinal: true, reserved: 0, isMasked: true, said: undefined, form: undefined } as const;
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom("", "\ufeffbom", "x".repeat(125), "y".repeat(126), "z".repeat(400)),
);
const control = fc
  .tuple(fc.constantFrom(9, 9, 10), fc.uint8Array({ maxLength: 125 }))
  .map(([opcode, bytes]): SentFrame => ({ ...sound, opcode, payload: Buffer.from(bytes) }));

/** A message in as many frames as there are parts, cut at any byte, with control frames and empty ones between them. */
const message = fc
  .tuple(text, fc.array(fc.nat({ max: 400 }), { maxLength: 5 }), fc.array(control, { maxLength: 2 }))
  .map(([whole, cuts, between]) => {
    const bytes = Buffer.from(whole);
    const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
    const parts = at.slice(1).map((end, i): SentFrame => {
      const payload = bytes.subarray(at[i], end);
      return { ...sound, opcode: i === 0 ? 1 : 0, isFinal: i === at.length - 2, payload };
    });
    return parts.length > 1 ? [parts[0]!, ...between, ...parts.slice(1)] : [...between, ...parts];
  });
const close = fc
  .tuple(
    fc.constantFrom(1000, 1001, 1011, 1014, 3000, 4999, 0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535),
    fc.constantFrom("", "bye", "\xff"),
  )
  .map(([code, reason]): SentFrame => ({
    ...sound,
    opcode: 8,
    payload: Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason, "latin1")]),
  }));
const anyFrame = fc.record<SentFrame>({
  isFinal: fc.boolean(),
  reserved: fc.constantFrom(0, 0, 0, 0, 0, 4, 1),
  opcode: fc.constantFrom(0, 1, 1, 2, 3, 8, 9, 10, 11, 15),
  isMasked: fc.constantFrom(true, true, true, true, true, false),
  payload: fc.uint8Array({ maxLength: 130 }).map((bytes) => Buffer.from(bytes)),
  said: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    undefined,
    200n,
    70_000n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n - 1n,
  ),
  form: fc.constant(undefined),
});
/** A length in a longer form than it needs. */
const longForm = fc
  .tuple(fc.constantFrom(1, 9), fc.constantFrom(2, 8), fc.nat({ max: 125 }))
  .map(([opcode, form, length]): SentFrame => ({ ...sound, opcode, form: form as 2 | 8, payload: Buffer.alloc(length, "x") }));

/** Frames of one client: mostly complete messages, sometimes a violation. */
export const webSocketConversation: fc.Arbitrary<SentFrame[]> = fc
  .array(
    fc.oneof(
      { weight: 10, arbitrary: message },
      { weight: 3, arbitrary: control.map((one) => [one]) },
      { weight: 1, arbitrary: close.map((one) => [one]) },
      { weight: 1, arbitrary: anyFrame.map((one) => [one]) },
      { weight: 1, arbitrary: longForm.map((one) => [one]) },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((groups) => {
    const frames = groups.flat();
    const cut = frames.findIndex(({ said }) => said !== undefined);
    // Bytes after an incomplete frame would be its payload.
    return cut < 0 ? frames : frames.slice(0, cut + 1);
  });
