import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { base64, type Stanza } from "./age-keys.ts";

const INTRO = "age-encryption.org/v1\n";
const COLUMNS = 64;
const MAC_BYTES = 32;
/** Far more than a header of this program has. */
const HEADER_BYTES_MAX = 64 * 1024;

/** Text of a header that only the holder of the file key can have written. */
export function writeHeader(fileKey: Buffer, stanzas: readonly Stanza[]): Buffer {
  const lines = stanzas.map(({ args, body }) => `-> ${args.join(" ")}\n${wrapped(base64(body))}\n`);
  const signed = `${INTRO}${lines.join("")}---`;
  return Buffer.from(`${signed} ${base64(headerMac(fileKey, signed))}\n`);
}

/** The body of a stanza ends with a line that is shorter than the others, which may be empty. */
const wrapped = (text: string): string => {
  const lines: string[] = [];
  for (let at = 0; at <= text.length; at += COLUMNS) lines.push(text.slice(at, at + COLUMNS));
  return lines.join("\n");
};

export interface Header {
  readonly stanzas: readonly Stanza[];
  /** Offset of the payload. */
  readonly length: number;
  /** Whether the holder of this key has written the header. */
  isWrittenWith(fileKey: Buffer): boolean;
}

/** The header at the start of the bytes; "incomplete" if it needs more of them. Throws if they do not begin with a header. */
export function readHeader(bytes: Buffer): Header | "incomplete" {
  const begun = bytes.toString("latin1", 0, INTRO.length);
  if (!INTRO.startsWith(begun)) throw new Error("the file is not encrypted with age");
  const stanzas: Stanza[] = [];
  for (let at = INTRO.length; ;) {
    const line = lineAt(bytes, at);
    if (line === undefined) {
      if (bytes.length > HEADER_BYTES_MAX) throw new Error("the header of the encrypted file is too long");
      return "incomplete";
    }
    if (line.startsWith("--- ")) return headerOf(bytes, at, line, stanzas);
    if (!line.startsWith("-> ")) throw new Error("the header of the encrypted file is damaged");
    at += line.length + 1;
    const body: string[] = [];
    for (let isLast = false; !isLast;) {
      const piece = lineAt(bytes, at);
      if (piece === undefined) return bytes.length > HEADER_BYTES_MAX ? tooLong() : "incomplete";
      body.push(piece);
      at += piece.length + 1;
      isLast = piece.length < COLUMNS;
    }
    stanzas.push({ args: line.slice(3).split(" "), body: Buffer.from(body.join(""), "base64") });
  }
}

const tooLong = (): never => {
  throw new Error("the header of the encrypted file is too long");
};

function headerOf(bytes: Buffer, at: number, line: string, stanzas: readonly Stanza[]): Header {
  const mac = Buffer.from(line.slice(4), "base64");
  const signed = bytes.toString("latin1", 0, at + 3);
  const isWrittenWith = (fileKey: Buffer): boolean => mac.length === MAC_BYTES && timingSafeEqual(mac, headerMac(fileKey, signed));
  return { stanzas, length: at + line.length + 1, isWrittenWith };
}

function lineAt(bytes: Buffer, from: number): string | undefined {
  const end = bytes.indexOf(10, from);
  return end < 0 ? undefined : bytes.toString("latin1", from, end);
}

const headerMac = (fileKey: Buffer, signed: string): Buffer =>
  createHmac("sha256", Buffer.from(hkdfSync("sha256", fileKey, "", "header", 32)))
    .update(signed, "latin1")
    .digest();
