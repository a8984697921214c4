import { listAt } from "#kernel/lists.ts";
import { namedValues, type NamedValues } from "./request-parts.ts";
import { lowerBytes } from "#rules/expression/text/text-functions.ts";

/** A multipart body, part by part; what a part has none of is an empty list. */
export interface Multipart {
  readonly byName: NamedValues;
  readonly names: readonly (readonly string[])[];
  readonly values: readonly string[];
  readonly types: readonly (readonly string[])[];
  readonly dispositions: readonly (readonly string[])[];
  readonly encodings: readonly (readonly string[])[];
  readonly filenames: readonly (readonly string[])[];
}

interface Part {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly value: string;
}

const PARTS_MAX = 1000;
const PART_HEADERS_MAX = 20;

/** The parts of a body whose content type is multipart (RFC 2046 §5.1, RFC 7578), or undefined for others. Never throws. */
export function readMultipart(contentType: string, body: string): Multipart | undefined {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return undefined;
  const parts = splitParts(body, `--${boundary}`);
  const header = (name: string): (readonly string[])[] => parts.map((part) => part.headers.get(name) ?? []);
  const dispositions = header("content-disposition");
  const parameters = (name: keyof typeof PARAMETERS): (readonly string[])[] =>
    dispositions.map((lines) => lines.flatMap((line) => parameterOf(line, name)));
  const names = parameters("name");
  const values = parts.map((part) => part.value);
  const named = parts.flatMap((part, i) => (names[i] ?? []).map((name) => [name, part.value] as const));
  return {
    byName: namedValues(
      named.map(([name]) => name),
      named.map(([, value]) => value),
    ),
    names,
    values,
    types: header("content-type"),
    dispositions,
    encodings: header("content-transfer-encoding"),
    filenames: parameters("filename"),
  };
}

function boundaryOf(contentType: string): string | undefined {
  if (!lowerBytes(contentType).startsWith("multipart/")) return undefined;
  const [boundary] = parameterOf(contentType, "boundary");
  return boundary === undefined || boundary === "" ? undefined : boundary;
}

const PARAMETERS = {
  // linear: pumped
  boundary: /;\s{0,9}boundary=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i,
  // linear: pumped
  name: /;\s{0,9}name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i,
  // linear: pumped
  filename: /;\s{0,9}filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i,
};

/** `; name="value"` of a header field. */
function parameterOf(line: string, name: keyof typeof PARAMETERS): readonly string[] {
  const found = PARAMETERS[name].exec(line);
  if (found === null) return [];
  return [found[1] === undefined ? (found[2] ?? "") : found[1].replace(/\\(.)/g, "$1")];
}

function splitParts(body: string, delimiter: string): readonly Part[] {
  const parts: Part[] = [];
  // The delimiter begins a line.
  let at = body.startsWith(delimiter) ? 0 : after(body, `\r\n${delimiter}`, 0) - delimiter.length;
  while (at >= 0 && parts.length < PARTS_MAX) {
    const start = at + delimiter.length;
    if (body.startsWith("--", start)) break;
    const from = after(body, "\r\n", start);
    if (from < 0) break;
    const end = body.indexOf(`\r\n${delimiter}`, from - 2);
    parts.push(readPart(body.slice(from, Math.max(from, end === -1 ? body.length : end))));
    at = end === -1 ? -1 : end + 2;
  }
  return parts;
}

/** Where the text behind the next `mark` begins, or below 0. */
function after(body: string, mark: string, from: number): number {
  const found = body.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function readPart(text: string): Part {
  const headers = new Map<string, string[]>();
  let at = 0;
  for (let i = 0; i < PART_HEADERS_MAX && !text.startsWith("\r\n", at); i++) {
    const found = text.indexOf("\r\n", at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, end);
    const colon = line.indexOf(":");
    if (colon <= 0) break;
    const name = lowerBytes(line.slice(0, colon));
    listAt(headers, name).push(line.slice(colon + 1).trim());
    at = Math.min(end + 2, text.length);
  }
  return { headers, value: text.startsWith("\r\n", at) ? text.slice(at + 2) : text.slice(at) };
}
