import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { PlatformError } from "#kernel/errors/errors.ts";
import { zoneFileText } from "#model/dns/zone-file-text.ts";

/** Forms of this interface have two fields; some more are ignored, many are an attack. */
const PARTS_MAX = 16;

/** Bytes of a form besides the limited field: headers of the parts and the other fields. */
export const FORM_OVERHEAD_BYTES = 16 * 1024;

export const isForm = (headers: IncomingHttpHeaders): boolean => /^\s*multipart\/form-data\s*(?:;|$)/i.test(headers["content-type"] ?? "");

/** A file of a form that is not text. */
export interface FormFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Files of forms, by the object of the form's fields. */
const FILES = new WeakMap<object, FormFile>();

/** The binary file of a form; undefined without one. In the fields, its name stands for it. */
export const formFileOf = (fields: unknown): FormFile | undefined =>
  typeof fields === "object" && fields !== null ? FILES.get(fields) : undefined;

/**
 * The fields of a form (RFC 7578) as text; a file is its content, with or without a file name, and the last of several
 * fields of a name counts. The field `binary` may have any bytes. Throws `invalid_input`, or `body_too_large` for a field beyond
 * the limit.
 */
export function readForm(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  fieldBytesMax: number,
  binary?: string,
): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  let file: FormFile | undefined;
  for (const { head, value } of formParts(bytes, boundaryOf(headers["content-type"] ?? ""))) {
    const name = nameOf(head);
    if (value.length > fieldBytesMax)
      throw new PlatformError("body_too_large", { message: `The field ${name.slice(0, 32)} is larger than ${fieldBytesMax} bytes.` });
    if (name === binary) file = { name: fileNameOf(head), bytes: value };
    fields.set(name, name === binary ? fileNameOf(head) : textOf(head, value, binary === undefined));
  }
  const all = Object.fromEntries(fields);
  if (file !== undefined) FILES.set(all, file);
  return all;
}

/** Text files of this interface are zone files, which have many encodings; other fields are UTF-8. */
function textOf(head: string, value: Buffer, isZoneFile: boolean): string {
  if (isUtf8(value)) return value.toString("utf8");
  if (!isZoneFile || fileNameOf(head) === "") throw unreadable("it is not UTF-8");
  return zoneFileText(value);
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

const dispositionOf = (head: string): string => /(?:^|\r\n)content-disposition:[ \t]*form-data[ \t]*;([^\r\n]*)/i.exec(head)?.[1] ?? "";

/** Without folders, which some clients send. */
function fileNameOf(head: string): string {
  // linear: pumped
  const [, quoted, plain] = /(?:^|[;\s])filename=(?:"([^"]*)"|([^\s;"]+))/i.exec(dispositionOf(head)) ?? [];
  const name = quoted ?? plain ?? "";
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
}

function nameOf(head: string): string {
  const disposition = dispositionOf(head);
  // linear: pumped
  const [, quoted, plain] = /(?:^|[;\s])name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition) ?? [];
  const name = quoted ?? plain;
  if (name === undefined || name === "") throw unreadable("a part has no name");
  return name;
}

const unreadable = (why: string): PlatformError => new PlatformError("invalid_input", { message: `The form cannot be read: ${why}.` });
