import { mimeOf } from "#rules/expression/request/mime.ts";
import { readMultipart } from "#rules/expression/request/multipart.ts";
import { lowerBytes } from "#rules/expression/text/text-functions.ts";
import { readCookies, readPairs } from "#rules/expression/request/request-parts.ts";
import type { RequestView } from "../../views.ts";
import { normalise } from "./normalise.ts";
import { AGENT, ARGUMENTS, BODY, COOKIES, FILES, HEADERS, PATH } from "./signature.ts";

/** Takes a normalised value; `part` is the field of expressions that it is in, and `name` its name there, where it has one. */
export type TakePiece = (text: string, target: number, part: string, name: string) => void;

/** Calls `take` with every value of a request that signatures look at. */
export function eachPiece(request: RequestView, take: TakePiece): void {
  const value: TakeValue = (text, target, plusIsSpace, part, name) => {
    if (text.length >= PIECE_BYTES_MIN) take(normalise(text, plusIsSpace), target, part, name);
  };
  value(request.path, PATH, false, "http.request.uri.path", "");
  if (request.query !== "") eachPair(request.query, "http.request.uri.args", value);
  eachHeader(request, value);
  if (request.body !== undefined && request.body.raw !== "") eachOfBody(request, request.body.raw, value);
}

type TakeValue = (text: string, target: number, plusIsSpace: boolean, part: string, name: string) => void;

// Nothing that anything looks for is shorter.
const PIECE_BYTES_MIN = 3;

function eachPair(text: string, part: string, value: TakeValue): void {
  const { names, all } = readPairs(text);
  for (const [i, name] of names.entries()) {
    value(name, ARGUMENTS, true, part, "");
    value(all[i] ?? "", ARGUMENTS, true, part, name);
  }
}

/** Fields whose values have a grammar of their own that no attack is known for, or that are looked at elsewhere. */
const PASSED_OVER: ReadonlySet<string> = new Set(
  (
    "host content-length connection transfer-encoding accept accept-encoding accept-language cache-control pragma date te upgrade " +
    "upgrade-insecure-requests dnt expect if-match if-none-match if-modified-since if-unmodified-since authorization " +
    "sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform " +
    "sec-websocket-key sec-websocket-version sec-websocket-extensions"
  ).split(" "),
);

function eachHeader(request: RequestView, value: TakeValue): void {
  const fields = request.header_fields?.();
  if (fields === undefined) return;
  for (const [i, written] of fields.names.entries()) {
    const name = written.toLowerCase();
    const text = fields.values[i] ?? "";
    if (name === "user-agent") value(text, AGENT, false, "http.user_agent", "");
    else if (name === "cookie") eachCookie(text, value);
    else if (!PASSED_OVER.has(name)) value(text, HEADERS, false, "http.request.headers", name);
  }
}

function eachCookie(text: string, value: TakeValue): void {
  const { names, all } = readCookies(text);
  for (const [i, name] of names.entries()) value(all[i] ?? "", COOKIES, false, "http.request.cookies", name);
}

function eachOfBody(request: RequestView, raw: string, value: TakeValue): void {
  const type = lowerBytes(request.headers("content-type")[0] ?? "");
  if (type.startsWith("application/x-www-form-urlencoded")) return eachPair(raw, "http.request.body.form", value);
  if (type.startsWith("multipart/")) {
    const parts = readMultipart(type === "" ? "" : (request.headers("content-type")[0] ?? ""), raw);
    if (parts !== undefined) {
      for (const [i, one] of parts.values.entries()) {
        for (const name of parts.names[i] ?? []) value(name, ARGUMENTS, false, "http.request.body.multipart.names", "");
        for (const name of parts.filenames[i] ?? []) value(name, FILES, false, "http.request.body.multipart.filenames", "");
        // A file's own bytes are not what a program takes for a value.
        if ((parts.filenames[i] ?? []).length === 0) value(one, ARGUMENTS, false, "http.request.body.multipart", parts.names[i]?.[0] ?? "");
      }
      return;
    }
  }
  if (/^[ \t\r\n]{0,100}[{[]/.test(raw) && eachOfJson(raw, value)) return;
  if (/^(?:text|multipart)\/|[/+]xml|json|graphql|^$/.test(type) || mimeOf(raw).startsWith("text/"))
    value(raw, BODY, false, "http.request.body.raw", "");
}

// More strings than this are looked at as one text.
const STRINGS_MAX = 10_000;

/** Names and strings of a document, whatever its type says; false where it is none. */
function eachOfJson(raw: string, value: TakeValue): boolean {
  let document: unknown;
  try {
    document = JSON.parse(raw) as unknown;
  } catch {
    return false;
  }
  const open: unknown[] = [document];
  const strings: string[] = [];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (typeof item === "string") strings.push(item);
    else if (typeof item === "object" && item !== null) {
      for (const [name, member] of Object.entries(item)) {
        if (!Array.isArray(item)) strings.push(name);
        if (member !== null && member !== undefined) open.push(member);
      }
    }
    if (strings.length > STRINGS_MAX) return false;
  }
  for (const text of strings) value(text, ARGUMENTS, false, "http.request.body.raw", "");
  return true;
}
