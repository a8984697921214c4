import { KEY_CHARACTERS_MAX } from "./allowed-place.ts";
import { MASK } from "./mask.ts";
import { isPersonalKey } from "./personal-keys.ts";
import type { Finding, DetectorHit } from "#rules/detectors/engine/tallies.ts";

/** Deeper values have the path of the container at this depth. */
const DEPTH_MAX = 32;

/** Bytes of a text that must not be shown. */
export interface HiddenPart {
  readonly from: number;
  readonly to: number;
}

/**
 * Paths of the hits in a JSON text, by their offsets, in one pass. Keys that hold a part of a find, or identify a person, are
 * masked.
 */
export function jsonPaths(bytes: Uint8Array, hits: readonly DetectorHit[], findings: readonly Finding[]): ReadonlyMap<number, string> {
  const offsets = [...new Set(hits.map(({ offset }) => offset))].sort((a, b) => a - b);
  const hidden = findings
    .flatMap(({ hits: all }) => all.map(({ offset, text }) => ({ from: offset, to: offset + text.length })))
    .sort((a, b) => a.from - b.from);
  const paths = jsonPathsAt(bytes, offsets, hidden);
  return new Map(offsets.map((offset, index) => [offset, paths[index] ?? "$"]));
}

/**
 * Paths of the bytes at ascending offsets of a JSON text: `$.users[3].card`, a short form of RFC 9535's normalized paths.
 * A key gets the path of its value. Bytes are read once, up to the last offset; in invalid JSON, the path is the last
 * valid one. Keys that hold a part of `hidden`, which is ordered by `from`, are masked.
 */
export function jsonPathsAt(bytes: Uint8Array, offsets: readonly number[], hidden: readonly HiddenPart[] = []): readonly string[] {
  const walk = new Walk(hidden);
  const paths: string[] = [];
  let at = 0;
  for (const offset of offsets) {
    at = walk.to(bytes, at, offset);
    paths.push(walk.path());
  }
  return paths;
}

interface Container {
  /** Null for an array. */
  key: string | null;
  index: number;
}

class Walk {
  readonly #stack: Container[] = [];
  /** Containers below the deepest that is followed. */
  #deeper = 0;
  #keyComes = false;
  readonly #hidden: readonly HiddenPart[];
  /** The first hidden part that may end after the keys so far, and the end of those before it. */
  #nextHidden = 0;
  #hiddenTo = 0;

  constructor(hidden: readonly HiddenPart[]) {
    this.#hidden = hidden;
  }

  /** Reads whole tokens until one ends after `offset`; returns the position reached. */
  to(bytes: Uint8Array, from: number, offset: number): number {
    let at = from;
    while (at <= offset && at < bytes.length) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        const end = stringEnd(bytes, at);
        if (this.#keyComes && this.#deeper === 0) this.#name(bytes, at + 1, end);
        if (end >= offset) return at;
        at = end + 1;
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close();
      else if (byte === COMMA) this.#next();
      else if (byte === COLON) this.#keyComes = false;
      at++;
    }
    return at;
  }

  path(): string {
    return this.#stack.reduce((path, { key, index }) => path + (key === null ? `[${index}]` : member(shownKey(key))), "$");
  }

  #open(isObject: boolean): void {
    if (this.#stack.length === DEPTH_MAX) return void this.#deeper++;
    this.#stack.push({ key: isObject ? "" : null, index: 0 });
    this.#keyComes = isObject;
  }

  #close(): void {
    if (this.#deeper > 0) this.#deeper--;
    else this.#stack.pop();
    this.#keyComes = false;
  }

  #next(): void {
    const top = this.#stack.at(-1);
    if (this.#deeper > 0 || top === undefined) return;
    top.index++;
    this.#keyComes = top.key !== null;
  }

  #name(bytes: Uint8Array, from: number, to: number): void {
    const top = this.#stack.at(-1);
    if (top === undefined || top.key === null) return;
    top.key = this.#isHidden(from, to) ? MASK : keyOf(Buffer.from(bytes.subarray(from, to)).toString());
  }

  /** Call in the order of the text. */
  #isHidden(from: number, to: number): boolean {
    for (; (this.#hidden[this.#nextHidden]?.from ?? to) < to; this.#nextHidden++)
      this.#hiddenTo = Math.max(this.#hiddenTo, this.#hidden[this.#nextHidden]?.to ?? 0);
    return this.#hiddenTo > from;
  }
}

const shownKey = (key: string): string => (isPersonalKey(key) ? MASK : key);

/** A decoded key; only its beginning if it is long. */
function keyOf(raw: string): string {
  if (!raw.includes("\\")) return raw.slice(0, KEY_CHARACTERS_MAX);
  try {
    return (JSON.parse(`"${raw}"`) as string).slice(0, KEY_CHARACTERS_MAX);
  } catch {
    return raw.slice(0, KEY_CHARACTERS_MAX);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function stringEnd(bytes: Uint8Array, quote: number): number {
  for (let at = quote + 1; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  return bytes.length;
}

const member = (key: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
