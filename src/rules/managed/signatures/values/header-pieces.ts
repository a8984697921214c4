import type { Argument } from "#rules/body/body-reading.ts";
import { cookieArguments } from "#rules/body/cookies.ts";
import { formArguments } from "#rules/body/form.ts";
import { eachInner } from "#rules/body/inner-values.ts";
import type { RequestView } from "../../../views.ts";
import { AGENT, ARGUMENTS, HEADERS } from "./places.ts";
import { eachSegment, takeArgument, type TakeValue } from "./taken-values.ts";

/** Fields whose values have their own grammar. Values that do not fit it are inspected all the same. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(
  (
    "host content-length connection transfer-encoding accept accept-encoding accept-language cache-control pragma date te upgrade " +
    "upgrade-insecure-requests dnt expect if-match if-none-match if-modified-since if-unmodified-since authorization " +
    "sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform " +
    "sec-websocket-key sec-websocket-version sec-websocket-extensions"
  ).split(" "),
);
export const STRANGE = /[${}<>`|\\%]/;
/** Tokens with parameters, entity tags, times without their day, and names of browsers, as these fields list them (RFC 9110). */
const ELEMENT =
  // linear: at most 160 bytes (callers take a longer element for one that does not fit)
  /^(?:[\w*+.!^~:#-]*(?:\/[\w*+.^~-]+)?(?:=(?:"[\w.+/=-]*"|[\w.+/-]*=*))?|(?:W\/)?"[\w+/=.:~-]*"|\d{1,2}[ -]\w{3}[ -]\d{2,4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})|"[ ();:/?_=.&-]?Not[^a-z0-9"]A[^a-z0-9"]Brand"|"[\w. ]*"|\[[\da-f:.]*\](?::\d+)?)(?:\s?;\s?(?:[\w*-]+\s?=\s?(?:"[\w.*+-]*"|[\w.*+-]*)|[a-z]+(?:_[a-z]+)+))*$/;

const ELEMENT_BYTES_MAX = 160;

/** Where the first element of a list begins that does not fit the grammar, or -1. */
function strangeFrom(text: string): number {
  let from = 0;
  for (const element of text.split(",")) {
    if (element.length > ELEMENT_BYTES_MAX || !ELEMENT.test(element.trim())) return from;
    from += element.length + 1;
  }
  return -1;
}

/** Calls `value` with every value of the header fields. */
export function eachHeader(request: RequestView, value: TakeValue): void {
  const fields = request.header_fields?.();
  if (fields === undefined) return;
  for (const [i, written] of fields.names.entries()) {
    const name = written.toLowerCase();
    const text = fields.values[i] ?? "";
    if (name === "user-agent") takeAgent(text, value);
    else if (name === "cookie") eachCookie(text, value);
    else if (name === "referer") takeAddress(text, value);
    else if (name === "authorization") takeCredentials(text, value);
    else {
      const from = PLAIN_FIELDS.has(name) ? strangeFrom(text) : 0;
      if (from >= 0) value(text, HEADERS, "http.request.headers", name);
      if (!PLAIN_FIELDS.has(name)) eachInner(text, (inner) => value(inner, HEADERS, "http.request.headers", name));
      if (from > 0) value(text.slice(from).trimStart(), HEADERS, "http.request.headers", name);
    }
  }
}

/** Products and comments (RFC 9110 §10.1.5), and names of programs, as clients write them in spite of it. */
const PRODUCTS = /^\w(?:[\w.!#&'*+^|~ -]|%[2-9a-f])*(?:$|[/(;,@[]|:(?![\\/]))/i;

/** Programs log the field and look names up in it; it is a value of any kind only if it does not begin as clients begin it. */
function takeAgent(text: string, value: TakeValue): void {
  const take = (piece: string, target: number): void => value(piece, target, "http.user_agent", "");
  take(text, AGENT);
  if (!PRODUCTS.test(text)) take(text, HEADERS);
  eachInner(text, (inner) => take(inner, HEADERS));
}

function eachCookie(text: string, value: TakeValue): void {
  const args: Argument[] = [];
  cookieArguments(text, args);
  for (const argument of args) takeArgument(argument, value);
}

/** An address in parts: programs read its arguments like those of a request, and in the whole address other parts surround them. */
function takeAddress(text: string, value: TakeValue): void {
  const take = (piece: string, target: number): void => value(piece, target, "http.request.headers", "referer");
  if (!/^https?:\/\//i.test(text)) {
    take(text, HEADERS | ARGUMENTS);
    eachInner(text, (inner) => take(inner, ARGUMENTS));
    return;
  }
  const end = indexOrEnd(text, "#");
  const question = Math.min(indexOrEnd(text, "?"), end);
  take(text.slice(0, question), HEADERS);
  eachSegment(text.slice(indexOrEnd(text, "/", "https://".length), question), (segment) => take(segment, ARGUMENTS));
  const args: Argument[] = [];
  if (question < end) formArguments(text.slice(question + 1, end), "query", "", args);
  for (const argument of args) takeArgument(argument, take);
  take(text.slice(end + 1), HEADERS | ARGUMENTS);
}

function indexOrEnd(text: string, char: string, from = 0): number {
  const at = text.indexOf(char, from);
  return at === -1 ? text.length : at;
}

/** The name and password of Basic authentication, the claims of a token, the parameters of other schemes, and keys. */
function takeCredentials(text: string, value: TakeValue): void {
  const take = (piece: string): void => value(piece, HEADERS | ARGUMENTS, "http.request.headers", "authorization");
  const space = indexOrEnd(text, " ");
  const scheme = text.slice(0, space);
  const credentials = text.slice(space).trim();
  if (scheme.toLowerCase() === "basic") {
    const plain = Buffer.from(credentials, "base64").toString("latin1");
    const colon = plain.indexOf(":");
    take(colon === -1 ? plain : plain.slice(0, colon));
    if (colon !== -1) take(plain.slice(colon + 1));
  } else {
    eachInner(credentials, take);
    for (const quoted of credentials.split('"', QUOTES_MAX).filter((_, i) => i % 2 === 1)) take(quoted);
    if (!isOrdinary(credentials)) take(credentials);
    // Some clients leave out the scheme.
    if (!/^[\w-]*$/.test(scheme)) take(text);
  }
  if (STRANGE.test(text)) value(text, HEADERS, "http.request.headers", "authorization");
}

const QUOTES_MAX = 64;

/** A key or token, or parameters (RFC 9110 §11.2). */
const isOrdinary = (text: string): boolean =>
  text.split(/, ?/).every((part) => /^[\w.~+/-]*=*$|^[\w*-]{1,40} ?= ?(?:"[^"]*"|[^\s"'()<>]*)$/.test(part));
