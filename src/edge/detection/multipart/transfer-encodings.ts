import type { Transcoder } from "#edge/detection/transcoder.ts";

/** A decoder for a transfer encoding that writes to `to`; null if the encoding leaves text readable (RFC 2045 §6.2). */
export function decoderFor(encoding: string, to: Transcoder): Transcoder | null {
  if (encoding === "base64") return base64(to);
  return encoding === "quoted-printable" ? quotedPrintable(to) : null;
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/;
/** Padding ends an encoded text: the characters after it were encoded separately. */
// linear: pumped
const PADDED = /[^=]+=*|=+/g;

/** Real texts do not have more separately encoded pieces in one part. */
const ENDED_MAX = 8192;

/** RFC 2045 §6.8. From the first invalid character on, everything is passed on unchanged. */
function base64(to: Transcoder): Transcoder {
  /** Characters of an incomplete group of four. */
  let rest = "";
  let isPlain = false;
  let ended = 0;
  const decode = (text: string): void => {
    for (const piece of (rest + text.replaceAll(/\s+/g, "")).match(PADDED) ?? []) {
      if (piece.endsWith("=") && ++ended > ENDED_MAX) continue;
      const whole = piece.endsWith("=") ? piece.length : piece.length - (piece.length % 4);
      rest = piece.slice(whole);
      if (whole > 0) to.write(Buffer.from(piece.slice(0, whole), "base64"));
    }
  };
  return {
    write: (bytes) => {
      if (isPlain) return to.write(bytes);
      const text = latin1(bytes);
      const end = text.search(NOT_BASE64);
      decode(end < 0 ? text : text.slice(0, end));
      if (end < 0) return;
      isPlain = true;
      to.write(Buffer.from(rest + text.slice(end), "latin1"));
    },
    end: () => {
      if (!isPlain && rest.length > 0) to.write(Buffer.from(rest, "base64"));
      to.end();
    },
  };
}

const [EQUALS, LINE_FEED, RETURN, SPACE, TAB] = [0x3d, 0x0a, 0x0d, 0x20, 0x09];
/** Value of a byte as a hexadecimal digit; 255 for none. */
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => "0123456789abcdef".indexOf(String.fromCharCode(byte).toLowerCase()));
const NO_HEX = 255;
/** Between `=` and the end of the line. */
const SPACES_MAX = 80;

/** RFC 2045 §6.7: decodes `=` with two digits, and removes soft line ends. Invalid sequences stay unchanged. */
function quotedPrintable(to: Transcoder): Transcoder {
  let rest: Buffer = Buffer.alloc(0);
  const give = (all: Buffer, isEnd: boolean): void => {
    const plain = Buffer.allocUnsafe(all.length);
    let [at, length] = [0, 0];
    while (at < all.length) {
      const byte = all[at] as number;
      if (byte !== EQUALS) {
        plain[length++] = byte;
        at++;
        continue;
      }
      const [high, low] = [HEX[all[at + 1] ?? SPACE] as number, HEX[all[at + 2] ?? SPACE] as number];
      if (high !== NO_HEX && low !== NO_HEX) {
        plain[length++] = high * 16 + low;
        at += 3;
        continue;
      }
      const lineEnd = softLineEnd(all, at + 1);
      if (lineEnd > 0) at = lineEnd;
      else if (!isEnd && mayBeUnfinished(all, at, high)) break;
      else {
        plain[length++] = byte;
        at++;
      }
    }
    rest = Buffer.from(all.subarray(at));
    if (length > 0) to.write(plain.subarray(0, length));
  };
  return {
    write: (bytes) => give(Buffer.concat([rest, bytes]), false),
    end: () => {
      give(rest, true);
      to.end();
    },
  };
}

function spacesEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at - from < SPACES_MAX && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}

/** Offset after spaces and the end of a line; 0 if the line does not end. */
function softLineEnd(bytes: Buffer, from: number): number {
  const at = spacesEnd(bytes, from);
  if (bytes[at] === LINE_FEED) return at + 1;
  return bytes[at] === RETURN && bytes[at + 1] === LINE_FEED ? at + 2 : 0;
}

/** True if later bytes may complete the `=` at `at`. */
function mayBeUnfinished(bytes: Buffer, at: number, high: number): boolean {
  if (at + 2 >= bytes.length && (at + 1 >= bytes.length || high !== NO_HEX)) return true;
  const end = spacesEnd(bytes, at + 1);
  return end === bytes.length || (end === bytes.length - 1 && bytes[end] === RETURN);
}
