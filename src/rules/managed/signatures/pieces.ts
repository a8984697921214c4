import { type Argument, type ArgumentSource, createFindings, type Findings } from "#rules/body/body-reading.ts";
import { cookieArguments } from "#rules/body/cookies.ts";
import { formArguments } from "#rules/body/form.ts";
import { addJson } from "#rules/body/json-body.ts";
import { eachInner, eachPacked, isPacked, packedText } from "#rules/body/inner-values.ts";
import { addXmlBody } from "#rules/body/xml.ts";
import { bodyReading } from "#rules/body/request-body.ts";
import { decodePercent } from "#rules/text/url-functions.ts";
import type { RequestView } from "../../views.ts";
import { joinedByComments } from "./joined-comments.ts";
import { type Decoded, normalise } from "./normalise.ts";
import { AGENT, ARGUMENTS, BODY, COOKIES, FILES, HEADERS, PATH, UPLOADS } from "./places.ts";

/** Receives a value; `part` is its field of expressions, and `name` its name there, if it has one. */
export type TakePiece = (value: Decoded, target: number, part: string, name: string) => void;

/** Calls `take` with every value of a request that signatures inspect. */
export function eachPiece(request: RequestView, take: TakePiece): void {
  const value: TakeValue = (text, target, part, name, isDocument = false) => {
    if (text.length >= PIECE_BYTES_MIN) take(isDocument ? { ...normalise(text), isDocument } : normalise(text), target, part, name);
  };
  const path = request.origin_path ?? request.path;
  value(path, PATH, "http.request.uri.path", "");
  eachSegment(path, (segment) => value(segment, ARGUMENTS, "http.request.uri.path", ""));
  const args: Argument[] = [];
  if (request.query !== "") formArguments(request.query, "query", "", args);
  for (const argument of args) takeArgument(argument, value);
  eachHeader(request, value);
  if (request.body === undefined || request.body.raw === "") return takeJoined(args, value);
  const reading = bodyReading(request);
  const names = new Set<string>();
  for (const argument of reading.args) takeArgument(argument, value, names);
  for (const { filenames, type, text } of reading.files) {
    for (const name of filenames) {
      // Programs store names, show them, and give them to other programs.
      const take = (text: string): void => value(text, FILES | ARGUMENTS, "http.request.body.multipart.filenames", "");
      take(name);
      eachInner(name, take);
    }
    value(text.slice(0, FILE_BYTES_MAX), UPLOADS, "http.request.body.multipart", "");
    const { args: inside, pieces } = contentOf(type.toLowerCase(), text, filenames);
    for (const argument of inside) takeArgument(argument, value, names);
    for (const piece of pieces) value(piece, BODY, "http.request.body.multipart", "");
  }
  const types = request.headers("content-type");
  if (isPacked(types)) eachPacked(packedText(reading.text, types), (text) => value(text, ARGUMENTS, "http.request.body.raw", ""));
  for (const { types, dispositions, encodings } of reading.parts)
    for (const text of [...types, ...encodings, ...dispositions])
      if (STRANGE.test(text)) value(text, HEADERS, "http.request.body.multipart", "");
  const takeText = (text: string): void => value(text, BODY, "http.request.body.raw", "");
  for (const text of [...reading.texts, ...reading.pieces]) {
    takeText(text);
    if (reading.kind === "xml") eachInner(text, takeText);
  }
  takeJoined(args.length === 0 ? reading.args : [...args, ...reading.args], value);
}

/** Scripts of pages send JSON as a part with a file name, and frameworks read it, a form or a document, as they read a body. */
function contentOf(type: string, text: string, filenames: readonly string[]): Findings {
  const findings = createFindings();
  if (type.includes("json")) addJson(text, findings);
  else if (type.includes("urlencoded")) formArguments(text, "multipart", "", findings.args);
  // Pictures in SVG and documents that people pick are files, whose own rows read the beginning.
  else if (/[/+]xml/.test(type) && !type.includes("svg") && !(text.length <= FILE_BYTES_MAX && filenames.some((name) => PICKED.test(name))))
    addXmlBody(text, true, findings);
  return findings;
}

/** Scripts name a part `blob` or without an extension. */
const PICKED = /[^/\\.]\.[a-z0-9]{2,8}$/i;

/** A program that servers run starts with its language's mark, or has it after an image's header. */
const FILE_BYTES_MAX = 16_384;

type TakeValue = (text: string, target: number, part: string, name: string, isDocument?: boolean) => void;

// No signature searches a shorter text.
const PIECE_BYTES_MIN = 3;

/** The fields of expressions that arguments are in, with that of their names, and the target that signatures know them by. */
const PLACES: Readonly<Record<ArgumentSource, readonly [part: string, names: string, target: number]>> = {
  query: ["http.request.uri.args", "http.request.uri.args.names", ARGUMENTS],
  form: ["http.request.body.form", "http.request.body.form.names", ARGUMENTS],
  multipart: ["http.request.body.multipart", "http.request.body.multipart.names", ARGUMENTS],
  json: ["http.request.body.raw", "http.request.body.raw", ARGUMENTS],
  xml: ["http.request.body.raw", "http.request.body.raw", ARGUMENTS],
  cookie: ["http.request.cookies", "http.request.cookies", COOKIES],
};

/** `seen`: names that were already inspected; objects of a list share them. */
function takeArgument({ source, name, value, otherNames, otherValues, path }: Argument, take: TakeValue, seen?: Set<string>): void {
  const [part, names, target] = PLACES[source];
  if (name !== value && seen?.has(name) !== true && !(source === "json" && COMPARISON.test(name) && isInFilter(path))) {
    take(name, target, names, "");
    // Readings of names are parts of it, except those that programs read from two parameters.
    if (source === "multipart") for (const other of otherNames) take(other, target, names, "");
    seen?.add(name);
  }
  if (source === "json" && CHAINS.test(path)) take(path, target, names, "");
  const inner = (text: string): void => take(text, target, part, path);
  take(value, target, part, path, eachInner(value, inner));
  // A cookie's other values differ only by decoded escapes, which the value itself shows.
  for (const other of otherValues) {
    if (source !== "cookie") take(other, target, part, path);
    eachInner(other, inner);
  }
}

/** Operators of conditions, which interfaces for queries take in the member for their filter. */
const COMPARISON = /^\$(?:eq|gte?|lte?|n?in|n?or|and|not|exists|regex|options|all|size|elemmatch)$/i;
const FILTERS: ReadonlySet<string> = new Set(["filter", "filters", "where", "query", "selector", "criteria", "conditions", "match"]);
const isInFilter = (path: string): boolean =>
  path
    .split(".", 12)
    .slice(0, -1)
    .some((name) => FILTERS.has(name));

/** Names whose path of members shows an attack. */
const CHAINS = /(?:constructor\.prototype|class\.module\.class)/i;

function takeJoined(args: readonly Argument[], value: TakeValue): void {
  const joined = joinedByComments(args);
  if (joined !== "") value(joined, ARGUMENTS, "http.request.uri.args", "");
  // Servers of GraphQL take a list of operations, which together ask for as much as one.
  const operations = args.flatMap(({ source, path, value }) => (source === "json" && path === "query" && value !== "" ? [value] : []));
  if (operations.length > 1) value(operations.join("\n"), ARGUMENTS, "http.request.body.raw", "query");
}

/** Fields whose values have their own grammar. Values that do not fit it are inspected all the same. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(
  (
    "host content-length connection transfer-encoding accept accept-encoding accept-language cache-control pragma date te upgrade " +
    "upgrade-insecure-requests dnt expect if-match if-none-match if-modified-since if-unmodified-since authorization " +
    "sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform " +
    "sec-websocket-key sec-websocket-version sec-websocket-extensions"
  ).split(" "),
);
const STRANGE = /[${}<>`|\\%]/;
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

function eachHeader(request: RequestView, value: TakeValue): void {
  const fields = request.header_fields?.();
  if (fields === undefined) return;
  for (const [i, written] of fields.names.entries()) {
    const name = written.toLowerCase();
    const text = fields.values[i] ?? "";
    if (name === "user-agent") value(text, AGENT, "http.user_agent", "");
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

/**
 * Calls `take` with each segment of a path that is not only a name, and with the texts that programs take out of it: programs take their
 * parameters from segments.
 */
function eachSegment(path: string, take: (segment: string) => void): void {
  for (const segment of path.split("/", SEGMENTS_MAX)) {
    if (UNUSUAL_SEGMENT.test(segment) || SERIALISED.test(segment)) take(segment);
    eachInner(decodePercent(segment), take);
  }
}

/** How objects of several languages begin, in base64 or hexadecimal. */
const SERIALISED = /^(?:ro0a|aced|h4si|tzo|ytox|gas|ga[jn]|y29z|y3b|bah)[\w-]{8}/i;

const SEGMENTS_MAX = 64;
const UNUSUAL_SEGMENT = /[^\w.~@:-]/;

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
