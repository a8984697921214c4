import { mimeOf } from "../../expression/mime.ts";
import { readMultipart } from "../../expression/multipart.ts";
import { lowerBytes } from "../../expression/text-functions.ts";
import { readCookies, readPairs } from "../../expression/request-parts.ts";
import type { RequestView } from "../../views.ts";
import { normalise } from "./normalise.ts";
import { AGENT, ARGUMENTS, BODY, COOKIES, FILES, HEADERS, PATH } from "./signature.ts";

/** Calls `take` with every value of a request that signatures look at, normalised. */
export function eachPiece(request: RequestView, take: (text: string, target: number) => void): void {
  const value = (text: string, target: number, plusIsSpace: boolean): void => {
    if (text.length >= PIECE_BYTES_MIN) take(normalise(text, plusIsSpace), target);
  };
  value(request.path, PATH, false);
  if (request.query !== "") eachPair(request.query, value);
  eachHeader(request, value);
  if (request.body !== undefined && request.body.raw !== "") eachOfBody(request, request.body.raw, value);
}

type TakeValue = (text: string, target: number, plusIsSpace: boolean) => void;

// Nothing that anything looks for is shorter.
const PIECE_BYTES_MIN = 3;

function eachPair(text: string, value: TakeValue): void {
  const { names, all } = readPairs(text);
  for (const name of names) value(name, ARGUMENTS, true);
  for (const one of all) value(one, ARGUMENTS, true);
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
    if (name === "user-agent") value(text, AGENT, false);
    else if (name === "cookie") for (const one of readCookies(text).all) value(one, COOKIES, false);
    else if (!PASSED_OVER.has(name)) value(text, HEADERS, false);
  }
}

function eachOfBody(request: RequestView, raw: string, value: TakeValue): void {
  const type = lowerBytes(request.headers("content-type")[0] ?? "");
  if (type.startsWith("application/x-www-form-urlencoded")) return eachPair(raw, value);
  if (type.startsWith("multipart/")) {
    const parts = readMultipart(type === "" ? "" : (request.headers("content-type")[0] ?? ""), raw);
    if (parts !== undefined) {
      for (const [i, one] of parts.values.entries()) {
        for (const name of parts.names[i] ?? []) value(name, ARGUMENTS, false);
        for (const name of parts.filenames[i] ?? []) value(name, FILES, false);
        // A file's own bytes are not what a program takes for a value.
        if ((parts.filenames[i] ?? []).length === 0) value(one, ARGUMENTS, false);
      }
      return;
    }
  }
  if (/^[ \t\r\n]{0,100}[{[]/.test(raw) && eachOfJson(raw, value)) return;
  if (/^(?:text|multipart)\/|[/+]xml|json|graphql|^$/.test(type) || mimeOf(raw).startsWith("text/")) value(raw, BODY, false);
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
  for (const text of strings) value(text, ARGUMENTS, false);
  return true;
}
