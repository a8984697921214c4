import { isUtf8 } from "node:buffer";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;

/**
 * The text of a zone file in any encoding that editors and consoles write: UTF-8, UTF-16 with a byte order mark, or bytes of an
 * older encoding. Other name servers keep such bytes as they are, so outside comments they become escapes (RFC 1035 §5.1:
 * `\DDD`); in comments they become characters of Latin-1.
 */
export function zoneFileText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  if (bytes.length % 2 === 0 && bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString("utf16le");
  if (bytes.length % 2 === 0 && bytes[0] === 0xfe && bytes[1] === 0xff) return Buffer.from(bytes).swap16().toString("utf16le");
  const lines: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found < 0 ? bytes.length : found + 1;
    const line = bytes.subarray(at, end);
    lines.push(isUtf8(line) ? line.toString("utf8") : escapedLine(line));
    at = end;
  }
  return lines.join("");
}

function escapedLine(line: Buffer): string {
  const comment = commentStart(line);
  // linear: pumped
  const record = line.toString("latin1", 0, comment).replace(/[\x80-\xff]/g, (byte) => `\\${byte.charCodeAt(0)}`);
  return record + line.toString("latin1", comment);
}

/** Quoted strings end on their line. */
function commentStart(line: Buffer): number {
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === BACKSLASH) at += 1;
    else if (line[at] === QUOTE) quoted = !quoted;
    else if (line[at] === SEMICOLON && !quoted) return at;
  }
  return line.length;
}
