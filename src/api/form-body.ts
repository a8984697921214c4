import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { PlatformError } from "#kernel/errors/errors.ts";

/** Forms of this interface have two fields; some more are ignored, many are an attack. */
const PARTS_MAX = 16;

/** Bytes of a form besides the limited field: headers of the parts and the other fields. */
export const FORM_OVERHEAD_BYTES = 16 * 1024;

export const isForm = (headers: IncomingHttpHeaders): boolean => /^\s*multipart\/form-data\s*(?:;|$)/i.test(headers["content-type"] ?? "");

/**
 * The fields of a form (RFC 7578) as text; a file is its content, with or without a file name, and the last of several
 * fields of a name counts. Throws `invalid_input`, or `body_too_large` for a field beyond the limit.
 */
export function readForm(bytes: Buffer, headers: IncomingHttpHeaders, fieldBytesMax: number): Readonly<Record<string, string>> {
  if (!isUtf8(bytes)) throw unreadable("it is not UTF-8");
  const fields = new Map<string, string>();
  for (const part of formParts(bytes, boundaryOf(headers["content-type"] ?? ""))) {
    const name = nameOf(part.head);
    if (part.value.length > fieldBytesMax)
      throw new PlatformError("body_too_large", { message: `The field ${name.slice(0, 32)} is larger than ${fieldBytesMax} bytes.` });
    fields.set(name, part.value.toString("utf8"));
  }
  return Object.fromEntries(fields);
}

interface FormPart {
  readonly head: string;
  readonly value: Buffer;
}

/**
 * RFC 2046 §5.1.1: delimiters begin lines, the last one ends in two hyphens; text before the first or after the last is
 * ignored.
 */
function formParts(body: Buffer, boundary: string): readonly FormPart[] {
  // With a line break before it the first delimiter looks like the others.
  const bytes = Buffer.concat([Buffer.from("\r\n"), body]);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const parts: FormPart[] = [];
  const first = bytes.indexOf(delimiter);
  if (first < 0) throw unreadable("it does not contain its boundary");
  for (let at = first + delimiter.length; bytes.toString("latin1", at, at + 2) !== "--";) {
    if (parts.length >= PARTS_MAX) throw unreadable(`it has more than ${PARTS_MAX} parts`);
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0 || !/^[ \t]*$/.test(bytes.toString("latin1", at, lineEnd))) throw unreadable("a boundary line contains other text");
    const headEnd = bytes.indexOf("\r\n\r\n", lineEnd);
    const end = headEnd < 0 ? -1 : bytes.indexOf(delimiter, headEnd + 2);
    if (end < 0) throw unreadable("a part does not end with the boundary");
    parts.push({ head: bytes.toString("utf8", lineEnd, headEnd), value: bytes.subarray(Math.min(headEnd + 4, end), end) });
    at = end + delimiter.length;
  }
  return parts;
}

function boundaryOf(type: string): string {
  // linear: pumped
  const [, quoted, plain] = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;",]{1,70})(?:$|[\s;]))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw unreadable("its content type has no boundary");
  return boundary;
}

function nameOf(head: string): string {
  const disposition = /(?:^|\r\n)content-disposition:[ \t]*form-data[ \t]*;([^\r\n]*)/i.exec(head)?.[1] ?? "";
  // linear: pumped
  const [, quoted, plain] = /(?:^|[;\s])name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition) ?? [];
  const name = quoted ?? plain;
  if (name === undefined || name === "") throw unreadable("a part has no name");
  return name;
}

const unreadable = (why: string): PlatformError => new PlatformError("invalid_input", { message: `The form cannot be read: ${why}.` });
