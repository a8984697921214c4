import { AmazonEventStreamReader, AmazonStreamError } from "#wire/http/amazon-event-stream.ts";
import { ChunkList } from "#gateway/http/chunks.ts";
import { NO_USAGE, type ReportedUsage, type Usage, type UsageShape } from "./usage-formats.ts";
import { parseJson } from "#gateway/http/json.ts";

/** Bytes kept of an incomplete event or of a long answer: usage is near its end. */
const KEPT_BYTES_MAX = 64 * 1024;
const OBJECT_BYTES_MAX = 16 * 1024;
const EMPTY = Buffer.alloc(0);
const LF = 0x0a;
const QUOTE = 0x22;

/** Bytes of events that are searched at once: searching each chunk would cost more than all other work on it. */
const LOOK_BYTES = 16 * 1024;
const FRAME_BYTES_MAX = 1024 * 1024;

type Mode = "events" | "frames" | "document" | "none";

/** The search for counts by media type of the answer; answers of other types have no counts. */
const MODES: Readonly<Record<string, Mode>> = {
  "text/event-stream": "events",
  "application/vnd.amazon.eventstream": "frames",
  "application/json": "document",
};

/**
 * Reads an answer's token counts while it passes. Keeps the current event of an event stream, and the last bytes of any
 * other answer; an answer that is not JSON or events, or is compressed, has no counts.
 */
export class UsageReader {
  readonly #shape: UsageShape;
  readonly #keys: readonly Buffer[];
  #mode: Mode;
  #frames: AmazonEventStreamReader | undefined;
  readonly #held = new ChunkList();
  readonly #kept = new Tail();
  #usage: Usage = NO_USAGE;

  constructor(shape: UsageShape, contentType: string, contentEncoding: string | undefined) {
    const type = mediaType(contentType);
    const plain = contentEncoding === undefined || contentEncoding === "identity";
    this.#shape = shape;
    this.#keys = keysOf(shape);
    this.#mode = !plain || shape.keys.length === 0 ? "none" : (MODES[type] ?? "none");
  }

  /** The bytes must not change later, because they are searched later. */
  chunk(bytes: Buffer): void {
    if (this.#mode === "none") return;
    if (this.#mode === "frames") return this.#frame(bytes);
    this.#held.push(bytes);
    if (this.#held.length >= LOOK_BYTES) this.#look();
  }

  /** The counts so far; final after the last chunk. */
  end(): Usage {
    if (this.#held.length > 0 && this.#kept.length === 0) this.#read(this.#held.joined());
    else if (this.#held.length > 0) this.#look();
    this.#held.clear();
    if (this.#kept.length > 0) this.#read(this.#kept.take());
    return this.#usage;
  }

  /** Reads the complete lines, or keeps the last bytes of an answer that is not a stream. */
  #look(): void {
    const bytes = this.#held.joined();
    this.#held.clear();
    const lineEnd = this.#mode === "events" ? bytes.lastIndexOf(LF) : -1;
    if (lineEnd < 0) {
      this.#kept.append(bytes);
      return;
    }
    const lines = bytes.subarray(0, lineEnd + 1);
    this.#read(this.#kept.length === 0 ? lines : Buffer.concat([this.#kept.take(), lines]));
    this.#kept.append(bytes.subarray(lineEnd + 1));
  }

  /** Each message holds an event, or a wrapped one. */
  #frame(bytes: Buffer): void {
    this.#frames ??= new AmazonEventStreamReader(
      ({ payload }) => {
        const wrapped = /^\{"bytes":"([A-Za-z0-9+/=]+)"/.exec(payload.toString("latin1"))?.[1];
        this.#read(wrapped === undefined ? payload : Buffer.from(wrapped, "base64"));
      },
      { messageBytesMax: FRAME_BYTES_MAX },
    );
    try {
      this.#frames.push(bytes);
    } catch (error) {
      if (!(error instanceof AmazonStreamError)) throw error;
      this.#mode = "none";
    }
  }

  #read(bytes: Buffer): void {
    let hasFound = false;
    for (const key of this.#keys) {
      // Some providers report input tokens at the start of a stream, and output tokens at its end.
      for (const found of this.#mode === "events" ? everyUsage(bytes, key) : lastUsages(bytes, key)) {
        this.#usage = merged(this.#usage, this.#shape.read(found));
        hasFound = true;
      }
    }
    const { beside } = this.#shape;
    if (!hasFound || beside === undefined) return;
    const answer = answerWith(beside.keys, bytes, this.#mode === "events");
    if (answer !== undefined) this.#usage = merged(this.#usage, beside.read(answer));
  }
}

/** Later values replace earlier ones. */
function merged(known: Usage, told: Partial<Usage>): Usage {
  const later = Object.entries(told).filter(([, value]) => value !== null && value !== undefined);
  return { ...known, ...Object.fromEntries(later) };
}

const COLON = Buffer.from(":");

/**
 * The answer, or the last event, with one of the keys; parsed as a whole, because repeated parts of the request may have
 * such a key too.
 */
function answerWith(keys: readonly string[], bytes: Buffer, isEvents: boolean): ReportedUsage | undefined {
  const at = Math.max(...keys.map((key) => bytes.lastIndexOf(`"${key}"`)));
  if (at < 0) return undefined;
  if (!isEvents) return parsed(bytes, 0, bytes.length);
  const lineEnd = bytes.indexOf(LF, at);
  const line = bytes.subarray(bytes.lastIndexOf(LF, at) + 1, lineEnd < 0 ? bytes.length : lineEnd);
  return parsed(line, line.indexOf(COLON) + 1, line.length);
}

/** The last appended bytes: at least half the bound, at most all of it. */
class Tail {
  length = 0;
  #bytes = EMPTY;

  append(bytes: Buffer): void {
    const part = bytes.length > KEPT_BYTES_MAX ? bytes.subarray(bytes.length - KEPT_BYTES_MAX) : bytes;
    if (this.length + part.length > KEPT_BYTES_MAX) {
      // Frees half the bound at a time, so that copying stays proportional to the appended bytes.
      const kept = Math.min(this.length, KEPT_BYTES_MAX - Math.max(part.length, KEPT_BYTES_MAX / 2));
      this.#bytes.copyWithin(0, this.length - kept, this.length);
      this.length = kept;
    }
    this.#reserve(this.length + part.length);
    this.length += part.copy(this.#bytes, this.length);
  }

  /** The bytes, valid until the next append. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.length);
    this.length = 0;
    return bytes;
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.min(KEPT_BYTES_MAX, Math.max(size, this.#bytes.length * 2)));
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}

export const mediaType = (contentType: string): string => (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();

const keysByShape = new WeakMap<UsageShape, readonly Buffer[]>();

/**
 * The keys in JSON, without the quote before them: the search looks for the first byte, and quotes are everywhere. Made
 * once for each shape.
 */
function keysOf(shape: UsageShape): readonly Buffer[] {
  let keys = keysByShape.get(shape);
  if (keys === undefined) keysByShape.set(shape, (keys = shape.keys.map((key) => Buffer.from(`${key}"`))));
  return keys;
}

const OBJECTS_MAX = 16;

/** The last objects under the key, at any depth, in their order; in text that mentions the key its quotes are escaped. */
function lastUsages(bytes: Buffer, key: Buffer): readonly ReportedUsage[] {
  const found: ReportedUsage[] = [];
  for (let at = bytes.lastIndexOf(key), tries = 0; at > 0 && tries < OBJECTS_MAX; at = bytes.lastIndexOf(key, at - 1)) {
    if (bytes[at - 1] !== QUOTE) continue;
    tries++;
    const value = objectBehind(bytes, at + key.length);
    if (value !== undefined) found.unshift(value);
  }
  return found;
}

/** All objects, each on one line; the inside of an object, and a line that does not close one, are not searched again. */
function everyUsage(bytes: Buffer, key: Buffer): readonly ReportedUsage[] {
  const found: ReportedUsage[] = [];
  let lineEnd = -1;
  for (let at = bytes.indexOf(key), next; at >= 0; at = bytes.indexOf(key, next)) {
    next = at + key.length;
    const start = bytes[at - 1] === QUOTE ? objectStart(bytes, next) : -1;
    if (start < 0) continue;
    if (lineEnd < start) lineEnd = bytes.indexOf(LF, start);
    if (lineEnd < 0) lineEnd = bytes.length;
    const end = objectEnd(bytes, start, lineEnd);
    next = end < 0 ? Math.min(lineEnd, start + OBJECT_BYTES_MAX) : end;
    const value = end < 0 ? undefined : parsed(bytes, start, end);
    if (value !== undefined) found.push(value);
  }
  return found;
}

/** The object after colon and white space, if there is one. */
function objectBehind(bytes: Buffer, from: number): ReportedUsage | undefined {
  const start = objectStart(bytes, from);
  const end = start < 0 ? -1 : objectEnd(bytes, start, bytes.length);
  return end < 0 ? undefined : parsed(bytes, start, end);
}

function parsed(bytes: Buffer, start: number, end: number): ReportedUsage | undefined {
  try {
    const value = parseJson(bytes.toString("utf8", start, end));
    return typeof value === "object" && value !== null ? (value as ReportedUsage) : undefined;
  } catch {
    // Not JSON; another match may be.
    return undefined;
  }
}

/** Index of the brace after colon and white space, or -1. */
function objectStart(bytes: Buffer, from: number): number {
  let colon = false;
  for (let i = from; i < bytes.length && i < from + 64; i++) {
    const byte = bytes[i];
    if (byte === 0x7b && colon) return i;
    if (byte === 0x3a && !colon) colon = true;
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return -1;
  }
  return -1;
}

/** Index after the brace that closes the object at `start` before `last`, or -1. */
function objectEnd(bytes: Buffer, start: number, last: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < last && i < start + OBJECT_BYTES_MAX; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b) depth++;
    else if (byte === 0x7d && --depth === 0) return i + 1;
  }
  return -1;
}
