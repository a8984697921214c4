/**
 * The bytes of a Bech32 text (BIP 173) with this prefix, in either case; undefined for any other text. It is how keys of age are
 * written.
 */
export function readBech32(text: string, prefix: string): Buffer | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return undefined;
  if (text.length > LENGTH_MAX || !lower.startsWith(`${prefix}1`)) return undefined;
  const values = Array.from(lower.slice(prefix.length + 1), (letter) => LETTERS.indexOf(letter));
  if (values.length < CHECKSUM_VALUES || values.includes(-1)) return undefined;
  if (checksum([...expanded(prefix), ...values]) !== 1) return undefined;
  return bytesOf(values.slice(0, -CHECKSUM_VALUES));
}

const LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const LENGTH_MAX = 120;
const CHECKSUM_VALUES = 6;
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function checksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATORS.entries()) if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum;
}

const expanded = (prefix: string): readonly number[] => {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
};

/** Groups of five bits as bytes; undefined where what is left over is not padding. */
function bytesOf(values: readonly number[]): Buffer | undefined {
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const value of values) {
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return bits >= 5 || (held & ((1 << bits) - 1)) !== 0 ? undefined : Buffer.from(bytes);
}
