import { TextDecoder } from "node:util";
import { createUtf32Decoder, type Utf32Decoder } from "./utf32.ts";

/** Converts the text of a body to UTF-8, or to bytes that can be scanned like it. */
export interface Transcoder {
  write(bytes: Uint8Array): void;
  /** The input has ended: passes held bytes on. */
  end(): void;
}

/**
 * `charset`: from Content-Type, in lower case; empty for none. A byte order mark overrides it (WHATWG Encoding §6);
 * UTF-16 and UTF-32 are also recognised without one. Numbers and keys are ASCII, so charsets in which an ASCII byte
 * always stands for itself are passed on unchanged: UTF-8, ISO 8859, Windows-125x and unknown ones.
 */
export function createTranscoder(charset: string, onText: (bytes: Uint8Array) => void): Transcoder {
  let decoder: TextDecoder | Utf32Decoder | null | undefined;
  /** The first bytes, until UTF-16 and UTF-32 can be recognised. */
  let head: Uint8Array | null = null;

  const give = (bytes: Uint8Array, stream: boolean): void => {
    if (decoder === null || decoder === undefined) return void (bytes.length > 0 && onText(bytes));
    const text = decoder.decode(bytes, { stream });
    if (text.length > 0) onText(Buffer.from(text));
  };

  const begin = (bytes: Uint8Array): void => {
    const order = utf32Of(bytes) ?? (utf16Of(bytes) === null ? UTF_32_NAMES.get(charset) : undefined);
    const encoding = utf16Of(bytes) ?? decodedEncoding(charset);
    if (order !== undefined) decoder = createUtf32Decoder(order);
    else decoder = encoding === null ? null : new TextDecoder(encoding);
    head = null;
  };

  return {
    write: (bytes) => {
      if (decoder !== undefined) return give(bytes, true);
      const all: Uint8Array = head === null ? bytes : Buffer.concat([head, bytes]);
      // Copied, because the caller may reuse its bytes at once.
      if (all.length < HEAD_BYTES) return void (head = Uint8Array.from(all));
      begin(all);
      give(all, true);
    },
    end: () => {
      const rest = head ?? new Uint8Array(0);
      if (decoder === undefined) begin(rest);
      give(rest, false);
    },
  };
}

const HEAD_BYTES = 4;

/**
 * Recognised by its byte order mark, or by a first character with zero upper bytes. `FF FE 00 00` is UTF-32, because text in
 * UTF-16 does not begin with a zero.
 */
function utf32Of(bytes: Uint8Array): "le" | "be" | undefined {
  const [first, second, third, fourth] = bytes;
  if (bytes.length < HEAD_BYTES) return undefined;
  if (third === 0 && fourth === 0 && (first === 0xff ? second === 0xfe : first !== 0 && second === 0)) return "le";
  return first === 0 && second === 0 && (third === 0xfe ? fourth === 0xff : third === 0 && fourth !== 0) ? "be" : undefined;
}

/** The WHATWG Encoding Standard lacks these. Big-endian without a mark, as RFC 2781 §4.3 defines for UTF-16. */
const UTF_32_NAMES: ReadonlyMap<string, "le" | "be"> = new Map([
  ["utf-32", "be"],
  ["utf-32be", "be"],
  ["utf-32le", "le"],
  ["ucs-4", "be"],
]);

/** Recognised by its byte order mark, or by two characters with zero upper bytes, as at the beginning of JSON, XML and HTML. */
function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (bytes.length < HEAD_BYTES) return null;
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return "utf-16le";
  return first === 0 && second !== 0 && third === 0 && fourth !== 0 ? "utf-16be" : null;
}

/** In these charsets, ASCII bytes also occur within other characters; names of the WHATWG Encoding Standard. */
const DECODED = new Set(["utf-16le", "utf-16be", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr"]);

function decodedEncoding(charset: string): string | null {
  if (charset === "") return null;
  try {
    const { encoding } = new TextDecoder(charset);
    return DECODED.has(encoding) ? encoding : null;
  } catch {
    return null;
  }
}
