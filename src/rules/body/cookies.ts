import { decodePercent } from "#rules/text/url-functions.ts";
import { type Argument, NO_READINGS } from "./body-reading.ts";

/**
 * Adds the cookies of one header line, as programs read them that split at semicolons, and programs that also split at
 * commas and spaces.
 */
export function cookieArguments(line: string, args: Argument[]): void {
  for (const piece of line.split(";")) {
    addCookie(piece.trim(), args);
    const inner = piece.trim();
    if (/[, ]/.test(inner)) for (const one of inner.split(/[, ]/)) if (one !== "") addCookie(one, args);
  }
  if (line.includes('"')) addQuoted(line, args);
}

/** Without `=`, some programs read a piece as a name and others as a value. */
function addCookie(piece: string, args: Argument[]): void {
  if (piece === "") return;
  const equals = piece.indexOf("=");
  const rawName = (equals === -1 ? piece : piece.slice(0, equals)).trimEnd();
  const value = equals === -1 ? piece : piece.slice(equals + 1).trimStart();
  const name = decodePercent(rawName);
  const decoded = decodePercent(value);
  args.push({
    source: "cookie",
    name,
    value,
    otherNames: name === rawName ? NO_READINGS : [rawName],
    otherValues: decoded === value ? NO_READINGS : [decoded],
    path: name,
  });
}

/** Quoted texts that contain a semicolon or escapes (RFC 2109, and `\105` as in Python's http.cookies). */
function addQuoted(line: string, args: Argument[]): void {
  for (let start = line.indexOf('"'); start !== -1;) {
    const end = closingQuote(line, start);
    const inner = line.slice(start + 1, end);
    if (/[;\\]/.test(inner)) {
      const before = line.slice(Math.max(0, start - NAME_BYTES_MAX), start);
      const name = before
        .slice(before.lastIndexOf(";") + 1)
        .replace(/=[^=]*$/, "")
        .trim();
      const value = inner.replace(/\\(?:([0-3][0-7]{2})|([^]))/g, (_whole, octal: string | undefined, char: string | undefined) =>
        octal === undefined ? (char ?? "") : String.fromCharCode(Number.parseInt(octal, 8)),
      );
      args.push({ source: "cookie", name, value, otherNames: NO_READINGS, otherValues: NO_READINGS, path: name });
    }
    start = line.indexOf('"', end + 1);
  }
}

const NAME_BYTES_MAX = 256;

function closingQuote(line: string, start: number): number {
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === '"') return at;
  }
  return line.length;
}
