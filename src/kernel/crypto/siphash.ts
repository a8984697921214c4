/** Writes the 8-byte hash of `bytes[start, end)` to `out` at `outStart`. Does not allocate. */
export type SipHash = (bytes: Uint8Array, start: number, end: number, out: Uint8Array, outStart: number) => void;

const COMPRESSION_ROUNDS = 2;
const FINALIZATION_ROUNDS = 4;

/**
 * SipHash-2-4, a keyed hash for short messages (Aumasson and Bernstein, 2012). Each 64-bit word is a pair of signed
 * 32-bit halves, because larger integers would be allocated. Throws RangeError if the key is not 16 bytes long.
 */
export function createSipHash(key: Uint8Array): SipHash {
  if (key.length !== 16) throw new RangeError("a SipHash key has 16 bytes");
  const k0l = wordAt(key, 0);
  const k0h = wordAt(key, 4);
  const k1l = wordAt(key, 8);
  const k1h = wordAt(key, 12);

  return (bytes, start, end, out, outStart) => {
    let v0l = k0l ^ 0x70736575;
    let v0h = k0h ^ 0x736f6d65;
    let v1l = k1l ^ 0x6e646f6d;
    let v1h = k1h ^ 0x646f7261;
    let v2l = k0l ^ 0x6e657261;
    let v2h = k0h ^ 0x6c796765;
    let v3l = k1l ^ 0x79746573;
    let v3h = k1h ^ 0x74656462;
    const length = end - start;
    // The last block has the remaining bytes and the length.
    const compressions = ((length >> 3) + 1) * COMPRESSION_ROUNDS;
    const rounds = compressions + FINALIZATION_ROUNDS;
    let ml = 0;
    let mh = 0;
    // One loop over all rounds, because a function cannot return eight halves without allocating.
    for (let round = 0; round < rounds; round++) {
      const first = round % COMPRESSION_ROUNDS === 0;
      if (round < compressions && first) {
        const at = start + (round / COMPRESSION_ROUNDS) * 8;
        if (at + 8 <= end) {
          ml = wordAt(bytes, at);
          mh = wordAt(bytes, at + 4);
        } else {
          ml = restAt(bytes, at, end);
          mh = restAt(bytes, at + 4, end) | (length << 24);
        }
        v3l ^= ml;
        v3h ^= mh;
      } else if (round === compressions) v2l ^= 0xff;

      let low = (v0l + v1l) | 0;
      v0h = (v0h + v1h + carry(low, v0l)) | 0;
      v0l = low;
      low = (v2l + v3l) | 0;
      v2h = (v2h + v3h + carry(low, v2l)) | 0;
      v2l = low;
      low = (v1l << 13) | (v1h >>> 19);
      v1h = (v1h << 13) | (v1l >>> 19);
      v1l = low;
      low = (v3l << 16) | (v3h >>> 16);
      v3h = (v3h << 16) | (v3l >>> 16);
      v3l = low;
      v1l ^= v0l;
      v1h ^= v0h;
      v3l ^= v2l;
      v3h ^= v2h;
      low = v0l;
      v0l = v0h;
      v0h = low;

      low = (v2l + v1l) | 0;
      v2h = (v2h + v1h + carry(low, v2l)) | 0;
      v2l = low;
      low = (v0l + v3l) | 0;
      v0h = (v0h + v3h + carry(low, v0l)) | 0;
      v0l = low;
      low = (v1l << 17) | (v1h >>> 15);
      v1h = (v1h << 17) | (v1l >>> 15);
      v1l = low;
      low = (v3l << 21) | (v3h >>> 11);
      v3h = (v3h << 21) | (v3l >>> 11);
      v3l = low;
      v1l ^= v2l;
      v1h ^= v2h;
      v3l ^= v0l;
      v3h ^= v0h;
      low = v2l;
      v2l = v2h;
      v2h = low;

      if (round < compressions && !first) {
        v0l ^= ml;
        v0h ^= mh;
      }
    }
    writeWord(out, outStart, v0l ^ v1l ^ v2l ^ v3l);
    writeWord(out, outStart + 4, v0h ^ v1h ^ v2h ^ v3h);
  };
}

/** The carry of a sum of two low halves: on overflow, the unsigned sum is less than each of them. */
const carry = (sum: number, summand: number): number => (sum >>> 0 < summand >>> 0 ? 1 : 0);

/** Four bytes, little-endian. */
const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);

/** The bytes before `end`, little-endian. */
function restAt(bytes: Uint8Array, at: number, end: number): number {
  let word = 0;
  for (let i = 0; i < 4 && at + i < end; i++) word |= (bytes[at + i] as number) << (8 * i);
  return word;
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  for (let i = 0; i < 4; i++) bytes[at + i] = word >>> (8 * i);
}
