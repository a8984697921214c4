import type { HeaderObject } from "#wire/http/header-object.ts";
import { keyForms } from "./key-forms.ts";

const ASTERISK = 0x2a;
const NOTHING = Buffer.alloc(0);

/**
 * Replaces stored keys of the gateway with as many asterisks wherever a provider repeats them. A client may use such a
 * key but not read it.
 */
export interface KeyMask {
  /** The keys, plain. */
  readonly keys: readonly string[];
  fields(headers: HeaderObject): HeaderObject;
  /** For one body. */
  body(): MaskedBody;
}

/** A body that arrives in chunks; it keeps its length. */
export interface MaskedBody {
  /** With `isCut` false, more may follow: bytes that could begin a key wait for it. */
  push(bytes: Buffer, isCut?: boolean): Buffer;
  /** The bytes that waited. */
  end(): Buffer;
}

/** Undefined if no key is long enough to be distinguished from words. */
export function createKeyMask(keys: readonly string[]): KeyMask | undefined {
  const forms = keys.flatMap(keyForms);
  if (forms.length === 0) return undefined;
  // If a form contains another one, the longer one comes first, because its ends would otherwise stay unmasked.
  const texts = forms.map((form) => form.toString("latin1")).toSorted((a, b) => b.length - a.length);
  const masked = (value: string): string => texts.reduce((shown, text) => shown.replaceAll(text, "*".repeat(text.length)), value);
  const beginnings = new Uint8Array(256);
  for (const form of forms) for (const byte of form.subarray(0, -1)) beginnings[byte] = 1;
  return {
    keys: keys.filter((key) => keyForms(key).length > 0),
    fields: (headers) => {
      if (!texts.some((text) => holds(headers, text))) return headers;
      return Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? masked(value) : value?.map(masked)]),
      );
    },
    body: () => new KeyMaskedBody(forms, beginnings),
  };
}

const holds = (headers: HeaderObject, text: string): boolean => {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string" ? value.includes(text) : value?.some((one) => one.includes(text)) === true) return true;
  }
  return false;
};

/** A class, because there is one for each answer. */
class KeyMaskedBody implements MaskedBody {
  readonly #forms: readonly Buffer[];
  /** Bytes of any form but its last. */
  readonly #beginnings: Uint8Array;
  #waiting = NOTHING;

  constructor(forms: readonly Buffer[], beginnings: Uint8Array) {
    this.#forms = forms;
    this.#beginnings = beginnings;
  }

  push(bytes: Buffer, isCut = false): Buffer {
    if (bytes.length === 0) return bytes;
    const all = this.#waiting.length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    const shown = this.#masked(all);
    const kept = isCut ? 0 : this.#unsure(all);
    this.#waiting = kept === 0 ? NOTHING : Buffer.from(all.subarray(all.length - kept));
    return kept === 0 ? shown : shown.subarray(0, shown.length - kept);
  }

  /** Half a key is as good as a key. */
  end(): Buffer {
    const rest = this.#waiting;
    this.#waiting = NOTHING;
    const isMost = this.#forms.some((form) => rest.length * 2 > form.length && form.subarray(0, rest.length).equals(rest));
    return isMost ? Buffer.alloc(rest.length, ASTERISK) : rest;
  }

  /** The bytes, which stay as they are, or a copy. */
  #masked(bytes: Buffer): Buffer {
    let shown = bytes;
    for (const form of this.#forms) {
      for (let at = bytes.indexOf(form); at >= 0; at = bytes.indexOf(form, at + 1)) {
        if (shown === bytes) shown = Buffer.from(bytes);
        shown.fill(ASTERISK, at, at + form.length);
      }
    }
    return shown;
  }

  /** The length of the longest suffix that is a prefix of a form. */
  #unsure(bytes: Buffer): number {
    if (this.#beginnings[bytes[bytes.length - 1] as number] === 0) return 0;
    let longest = 0;
    for (const form of this.#forms) {
      const from = Math.max(0, bytes.length - form.length + 1);
      for (let at = bytes.indexOf(form[0] as number, from); at >= 0 && bytes.length - at > longest;) {
        if (bytes.compare(form, 0, bytes.length - at, at) === 0) longest = bytes.length - at;
        else at = bytes.indexOf(form[0] as number, at + 1);
      }
    }
    return longest;
  }
}
