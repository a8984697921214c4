/**
 * The part of WebAssembly's binary format (WebAssembly Core 2.0 §5) that one function needs, as functions that return
 * bytes. An operand is the code that computes it.
 */
export type Code = readonly number[];

export const I32 = 0x7f;
export const V128 = 0x7b;

export function unsigned(value: number): Code {
  const bytes: number[] = [];
  let rest = value >>> 0;
  do {
    const more = rest > 0x7f;
    bytes.push((rest & 0x7f) | (more ? 0x80 : 0));
    rest >>>= 7;
  } while (rest !== 0);
  return bytes;
}

function signed(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const last = (rest >> 6 === 0 || rest >> 6 === -1) && rest >> 7 === rest >> 6;
    bytes.push((rest & 0x7f) | (last ? 0 : 0x80));
    if (last) return bytes;
  }
}

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
export const constant = (value: number): Code => [0x41, ...signed(value)];

const binary =
  (...opcode: readonly number[]) =>
  (left: Code, right: Code): Code => [...left, ...right, ...opcode];
const unary =
  (...opcode: readonly number[]) =>
  (operand: Code): Code => [...operand, ...opcode];

export const i32 = {
  add: binary(0x6a),
  subtract: binary(0x6b),
  multiply: binary(0x6c),
  and: binary(0x71),
  or: binary(0x72),
  xor: binary(0x73),
  shiftLeft: binary(0x74),
  shiftRight: binary(0x76),
  atLeast: binary(0x4f),
  equal: binary(0x46),
  isZero: unary(0x45),
  trailingZeros: unary(0x68),
  ones: unary(0x69),
  load: (address: Code, offset = 0): Code => [...address, 0x28, 0, ...unsigned(offset)],
  loadByte: (address: Code, offset = 0): Code => [...address, 0x2d, 0, ...unsigned(offset)],
  store: (address: Code, value: Code): Code => [...address, ...value, 0x36, 2, 0],
};

const simd = (opcode: number): Code => [0xfd, ...unsigned(opcode)];

export const bytes16 = {
  load: (address: Code, offset = 0): Code => [...address, ...simd(0x00), 0, ...unsigned(offset)],
  splat: (byte: number): Code => [...constant(byte), ...simd(0x0f)],
  splatOf: unary(...simd(0x0f)),
  swizzle: binary(...simd(0x100)),
  equal: binary(...simd(0x23)),
  /** Of signed bytes: one instruction, where unsigned bytes take four. */
  lessThan: binary(...simd(0x25)),
  and: binary(...simd(0x4e)),
  or: binary(...simd(0x50)),
  /** One bit for each byte: its highest. */
  mask: unary(...simd(0x64)),
  /** Of pairs of bytes: the instruction does not exist for single bytes. */
  shiftPairsRight: binary(...simd(0x8d)),
  subtract: binary(...simd(0x71)),
};

/** Repeats the body while the condition holds before it. */
export const loopWhile = (condition: Code, body: Code): Code => [
  ...[0x02, 0x40, 0x03, 0x40],
  ...[...i32.isZero(condition), 0x0d, 1],
  ...body,
  ...[0x0c, 0, 0x0b, 0x0b],
];

export const when = (condition: Code, body: Code): Code => [...condition, 0x04, 0x40, ...body, 0x0b];

export const choose = (condition: Code, body: Code, otherwise: Code): Code => [...condition, 0x04, 0x40, ...body, 0x05, ...otherwise, 0x0b];

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const vector = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const name = (text: string): Code => [...unsigned(text.length), ...Buffer.from(text, "latin1")];

/** A module that exports its memory and one function of 32-bit parameters with one result. */
export function moduleOf(
  pages: number,
  parameters: number,
  locals: readonly (readonly [count: number, type: number])[],
  body: Code,
): Uint8Array<ArrayBuffer> {
  const declared = vector(locals.map(([count, type]) => [...unsigned(count), type]));
  const code = [...declared, ...body, 0x0b];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector([[0x60, ...unsigned(parameters), ...Array.from({ length: parameters }, () => I32), 1, I32]])),
    ...section(3, vector([[0]])),
    ...section(5, vector([[0x00, ...unsigned(pages)]])),
    ...section(
      7,
      vector([
        [...name("memory"), 0x02, 0],
        [...name("run"), 0x00, 0],
      ]),
    ),
    ...section(10, vector([[...unsigned(code.length), ...code]])),
  ]);
}
