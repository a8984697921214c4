import { parseIp } from "#kernel/net/ip.ts";
import { RdataError } from "./errors.ts";
import { type DnsName, type NameContext, parseName } from "./name.ts";

/** The words of a record that are not yet read; each step takes the next one. */
export class Words {
  readonly #words: readonly string[];
  readonly #names: NameContext;
  #at = 0;

  constructor(words: readonly string[], names: NameContext) {
    this.#words = words;
    this.#names = names;
  }

  get done(): boolean {
    return this.#at === this.#words.length;
  }

  next(what: string): string {
    const word = this.#words[this.#at++];
    if (word === undefined) throw new RdataError(`has no ${what}`);
    return word;
  }

  number(what: string, most: number): number {
    const word = this.next(what);
    const value = /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN;
    if (!(value <= most)) throw new RdataError(`must have a number from 0 to ${most} as ${what}`);
    return value;
  }

  name(what: string): DnsName {
    return parseName(this.next(what), this.#names);
  }

  address(what: string, family: 4 | 6): Uint8Array {
    const parsed = parseIp(this.next(what));
    if (parsed?.family !== family) throw new RdataError(`must have an IPv${family} address as ${what}`);
    return parsed.bytes;
  }

  encoded(what: string, encoding: "hex" | "base64"): Buffer {
    return decoded(this.next(what), what, encoding);
  }

  /** All words that are left, joined: white space may divide them. */
  rest(what: string, encoding: "hex" | "base64"): Buffer {
    return decoded(this.left().join(""), what, encoding);
  }

  left(): readonly string[] {
    const left = this.#words.slice(this.#at);
    this.#at = this.#words.length;
    return left;
  }
}

const ENCODED: Readonly<Record<"hex" | "base64", RegExp>> = {
  hex: /^(?:[0-9A-Fa-f]{2})*$/,
  base64: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, // linear: pumped
};

export function decoded(word: string, what: string, encoding: "hex" | "base64"): Buffer {
  if (!ENCODED[encoding].test(word)) throw new RdataError(`must have ${encoding === "hex" ? "hexadecimal digits" : "base64"} as ${what}`);
  return Buffer.from(word, encoding);
}
