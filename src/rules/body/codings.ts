import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, constants, zstdDecompressSync } from "node:zlib";
import { charge, rememberCharged } from "#rules/budget.ts";
import type { BodyCause } from "./body-causes.ts";
import { beginsDeflate } from "./deflate-head.ts";

/** Codings of one body that are decoded (RFC 9110 §8.4 allows any number). */
const CODINGS_MAX = 2;
/**
 * A body may grow by this factor, or to this size: a smaller one would cost a client almost nothing to send, and the edge
 * time to read.
 */
const GROWTH_MAX = 100;
const SMALL_BYTES = 65_536;
/** Steps per decompressed byte. */
const DECODE_STEPS = 4;

/**
 * The body with the codings of Content-Encoding decoded, up to `bytesMax` bytes; null if it has no known coding. Of a
 * damaged or longer body, the beginning.
 */
export function undoCodings(
  lines: readonly string[],
  body: string,
  isCut: boolean,
  bytesMax: number,
  causes: Set<BodyCause>,
): string | null {
  const codings = lines
    .flatMap((line) => line.toLowerCase().split(","))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length === 0 || body === "") return null;
  if (codings.length > CODINGS_MAX) causes.add("coding");
  let text: string | null = null;
  for (const coding of codings.slice(0, CODINGS_MAX).toReversed()) {
    const tries = DECODERS[coding];
    if (tries === undefined) {
      causes.add("coding-unknown");
      break;
    }
    const bytes = Buffer.from(text ?? body, "latin1");
    const most = Math.min(bytesMax, Math.max(bytes.length * GROWTH_MAX, SMALL_BYTES));
    const { decoded, isWhole } = decodeFirst(tries, bytes, most, isCut);
    if (decoded !== null) text = decoded.toString("latin1");
    if (!isWhole) {
      // A body that is cut is a matter of its size, not of its coding.
      causes.add(isCut || (decoded !== null && decoded.length >= bytesMax * NEARLY) ? "size" : "coding");
      break;
    }
  }
  return text;
}

/** Least share of the bound that a cut body decodes to. */
const NEARLY = 0.9;

/** The coding of a body that begins as such bytes do, whatever its fields say; null if it begins as a text or in another way. */
export const codingOf = rememberCharged(
  (body: string): "gzip" | "deflate" | "zstd" | "br" | null => {
    if (body.startsWith("\x1f\x8b\x08")) return "gzip";
    if (body.startsWith("\x28\xb5\x2f\xfd")) return "zstd";
    const begin = Buffer.from(body.slice(0, BEGIN_BYTES), "latin1");
    if (isText(begin)) return null;
    if (/^\x78[\x01\x5e\x9c\xda]/.test(body)) return "deflate";
    if (beginsDeflate(begin) && hasText(inflateRawSync, begin, constants.Z_SYNC_FLUSH)) return "deflate";
    return hasText(brotliDecompressSync, begin, constants.BROTLI_OPERATION_FLUSH) ? "br" : null;
  },
  (a, b) => a === b,
);

/** A body that does not name its coding is recognized by this many bytes at its start. */
const BEGIN_BYTES = 512;
/** A text in UTF-8, whose last character may be cut. */
const isText = (bytes: Buffer): boolean =>
  // oxlint-disable-next-line no-control-regex
  !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(bytes.toString("latin1")) &&
  [0, 1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, Math.max(0, bytes.length - cut))));

const PROBE_BYTES_MAX = 65_536;
const PROBE_STEPS = 40_000;

/** Whether bytes decode to the beginning of a text; it may be a long one. */
function hasText(decode: typeof inflateRawSync | typeof brotliDecompressSync, bytes: Buffer, finishFlush: number): boolean {
  charge(PROBE_STEPS);
  try {
    const text = decode(bytes, { finishFlush, maxOutputLength: PROBE_BYTES_MAX }).toString("latin1", 0, BEGIN_BYTES);
    return text.length >= TEXT_BYTES_MIN && /^[\t\r\n -~\x80-\xff]+$/.test(text);
  } catch (error) {
    return error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
  }
}

const TEXT_BYTES_MIN = 8;

interface Decoded {
  readonly decoded: Buffer | null;
  readonly isWhole: boolean;
}

/** Decodes `bytes` to at most `bytesMax` bytes: all of them, or with `isPart` a beginning. Throws otherwise. */
type Decode = (bytes: Buffer, bytesMax: number, isPart: boolean) => Buffer;

interface Engine {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

const zlibWith =
  (sync: typeof gunzipSync): Decode =>
  (bytes, maxOutputLength, isPart) => {
    const finishFlush = isPart ? constants.Z_SYNC_FLUSH : constants.Z_FINISH;
    const { buffer, engine } = sync(bytes, { maxOutputLength, finishFlush, info: true } as object) as unknown as Engine;
    if (!isPart && engine.bytesWritten < bytes.length) throw new Error("data follows the compressed body");
    return buffer;
  };

const DECODERS: Readonly<Record<string, readonly Decode[]>> = {
  gzip: [zlibWith(gunzipSync)],
  "x-gzip": [zlibWith(gunzipSync)],
  // RFC 9110 §8.4.1.2: with the header of zlib; many programs send and read it without.
  deflate: [zlibWith(inflateSync), zlibWith(inflateRawSync)],
  br: [
    (bytes, maxOutputLength, isPart) =>
      brotliDecompressSync(bytes, {
        maxOutputLength,
        finishFlush: isPart ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH,
      }),
  ],
  zstd: [
    (bytes, maxOutputLength, isPart) =>
      zstdDecompressSync(bytes, { maxOutputLength, finishFlush: isPart ? constants.ZSTD_e_flush : constants.ZSTD_e_end }),
  ],
};

/** Decodes with the first decoder that accepts all bytes, otherwise returns the longest beginning that one of them accepts. */
function decodeFirst(decoders: readonly Decode[], bytes: Buffer, bytesMax: number, isCut: boolean): Decoded {
  for (const decode of decoders) {
    const decoded = isCut ? null : attempt(decode, bytes, bytesMax, false);
    if (decoded !== null) return { decoded, isWhole: true };
  }
  let longest: Buffer | null = null;
  for (const decode of decoders) {
    const decoded = decodeBeginning(decode, bytes, bytesMax);
    if (decoded !== null && decoded.length > (longest?.length ?? 0)) longest = decoded;
  }
  return { decoded: longest, isWhole: false };
}

/** The found part is shorter than the longest by at most a thousandth of the whole. */
const HALVINGS = 10;

/** zlib returns no output before damaged data, so this searches the longest undamaged beginning. */
function decodeBeginning(decode: Decode, bytes: Buffer, bytesMax: number): Buffer | null {
  let longest = attempt(decode, bytes, bytesMax, true);
  if (longest !== null) return longest;
  let [good, bad] = [0, bytes.length];
  for (let round = 0; round < HALVINGS && bad - good > 1; round++) {
    const middle = (good + bad) >> 1;
    const decoded = attempt(decode, bytes.subarray(0, middle), bytesMax, true);
    if (decoded === null) bad = middle;
    else [good, longest] = [middle, decoded];
  }
  return longest;
}

function attempt(decode: Decode, bytes: Buffer, bytesMax: number, isPart: boolean): Buffer | null {
  let decoded: Buffer | null = null;
  try {
    decoded = decode(bytes, bytesMax, isPart);
  } catch {
    // Reported as null.
  }
  const madeBytes = decoded?.length ?? Math.min(bytesMax, bytes.length * GROWTH_MAX);
  charge((bytes.length + madeBytes) * DECODE_STEPS);
  return decoded;
}
