import { WireError } from "./errors.ts";

const WINDOW_BYTES_MAX = 32;

/** The types that exist at a name, in the format of NSEC (RFC 4034 §4.1.2). */
export function typeBitmap(types: Iterable<number>): Buffer {
  const windows: Buffer[] = [];
  let window: { readonly number: number; readonly bits: Buffer; used: number } | undefined;
  const close = (): void => {
    if (window) windows.push(Buffer.of(window.number, window.used), window.bits.subarray(0, window.used));
  };
  for (const type of [...new Set(types)].sort((a, b) => a - b)) {
    const number = type >> 8;
    if (window?.number !== number) {
      close();
      window = { number, bits: Buffer.alloc(WINDOW_BYTES_MAX), used: 0 };
    }
    const byte = (type & 0xff) >> 3;
    window.bits[byte] = (window.bits[byte] as number) | (0x80 >> (type & 7));
    window.used = byte + 1;
  }
  close();
  return Buffer.concat(windows);
}

/** Throws WireError if the bytes are not a type bitmap. */
export function typesOf(bitmap: Uint8Array): number[] {
  const types: number[] = [];
  let before = -1;
  for (let at = 0; at < bitmap.length;) {
    const window = bitmap[at] as number;
    const length = bitmap[at + 1] ?? 0;
    const end = at + 2 + length;
    if (window <= before || length === 0 || length > WINDOW_BYTES_MAX || end > bitmap.length) throw new WireError("bad_rdata");
    for (let bit = 0; bit < length * 8; bit++)
      if (((bitmap[at + 2 + (bit >> 3)] as number) & (0x80 >> (bit & 7))) !== 0) types.push((window << 8) | bit);
    before = window;
    at = end;
  }
  return types;
}
