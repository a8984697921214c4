/** Deeper values are named by what holds them. */
const DEPTH_MAX = 32;
const KEY_CHARACTERS_MAX = 64;

/**
 * Where in a JSON text the bytes at the offsets stand, which come in ascending order: `$.users[3].card`, RFC 9535's normalised
 * idea in its short form. A key is named by the value it holds. Bytes are read once up to the last offset; what is no JSON gets
 * the place up to where it made sense.
 */
export function jsonPaths(bytes: Uint8Array, offsets: readonly number[]): readonly string[] {
  const walk = new Walk();
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

  /** Reads whole tokens until one reaches beyond `offset`; gives where it has come to. */
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
    return this.#stack.reduce((path, { key, index }) => path + (key === null ? `[${index}]` : member(key)), "$");
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
    if (top !== undefined && top.key !== null) top.key = Buffer.from(bytes.subarray(from, to)).toString().slice(0, KEY_CHARACTERS_MAX);
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
