import { decodePercent } from "#rules/text/url-functions.ts";
import { type NamedValue, NO_BODY, type TransactionBody, type TransactionRequest, type TransactionResponse } from "./transaction.ts";

/** A value of a collection. */
export interface Entry {
  readonly name: string;
  /** The name in lower case, by which rules select. */
  readonly lower: string;
  readonly value: string;
}

/** The variables of a transaction that come from the request and response, each read at its first use. */
export interface Collections {
  get(collection: string): readonly Entry[];
  setBody(body: TransactionBody, processor: string, isForced: boolean): void;
  setResponse(response: TransactionResponse): void;
}

const NONE: readonly Entry[] = [];

/** Scheme and authority before the path of a target. */
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:\/\/[^/?#]*/;

interface Parts {
  readonly request: TransactionRequest;
  body: TransactionBody;
  processor: string;
  isBodyShown: boolean;
  response: TransactionResponse | null;
  readonly get: (collection: string) => readonly Entry[];
}

export function createCollections(request: TransactionRequest): Collections {
  const known = new Map<string, readonly Entry[]>();
  const get = (collection: string): readonly Entry[] => {
    let entries = known.get(collection);
    if (entries === undefined) known.set(collection, (entries = READERS.get(collection)?.(parts) ?? NONE));
    return entries;
  };
  const parts: Parts = { request, body: NO_BODY, processor: request.bodyProcessor, isBodyShown: false, response: null, get };
  const change = (changed: Partial<Parts>, collections: readonly string[]): void => {
    Object.assign(parts, changed);
    for (const collection of collections) known.delete(collection);
  };
  return {
    get,
    setBody: (body, processor, isForced) =>
      change({ body, processor, isBodyShown: processor === "URLENCODED" || (processor === "" && isForced) }, OF_BODY),
    setResponse: (response) => change({ response }, OF_RESPONSE),
  };
}

type CollectionReader = (parts: Parts) => readonly Entry[];

const entry = (name: string, value: string): Entry => ({ name, lower: name.toLowerCase(), value });
const one = (value: string): readonly Entry[] => [{ name: "", lower: "", value }];
const entries = (named: readonly NamedValue[]): readonly Entry[] => named.map(({ name, value }) => entry(name, value));
const names = (from: readonly Entry[]): readonly Entry[] => from.map(({ name, lower }) => ({ name, lower, value: name }));
const values = (texts: readonly string[]): readonly Entry[] => texts.map((value) => ({ name: "", lower: "", value }));
const flag = (isSet: boolean): readonly Entry[] => one(isSet ? "1" : "0");

const value =
  (read: (parts: Parts) => string): CollectionReader =>
  (parts) =>
    one(read(parts));

const namesOf =
  (collection: string): CollectionReader =>
  ({ get }) =>
    names(get(collection));

const response =
  (read: (response: TransactionResponse) => readonly Entry[]): CollectionReader =>
  (parts) =>
    parts.response === null ? NONE : read(parts.response);

const header = ({ headers }: { readonly headers: readonly NamedValue[] }, wanted: string): string =>
  headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";

/** Without scheme, authority and fragment. */
function uriOf(target: string): string {
  const origin = ORIGIN.exec(target);
  const bare = origin === null ? target : target.slice(origin[0].length) || "/";
  return bare;
}

function pathOf(target: string): string {
  const uri = uriOf(target);
  const end = uri.indexOf("?");
  return end === -1 ? uri : uri.slice(0, end);
}

function queryOf(target: string): string {
  const start = target.indexOf("?");
  if (start === -1) return "";
  const end = target.indexOf("#", start);
  return target.slice(start + 1, end === -1 ? undefined : end);
}

const basename = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

const sizeOf = (from: readonly Entry[]): number => from.reduce((sum, { name, value }) => sum + name.length + value.length, 0);

const MULTIPART_FLAGS = [
  "MULTIPART_BOUNDARY_QUOTED",
  "MULTIPART_BOUNDARY_WHITESPACE",
  "MULTIPART_CRLF_LF_LINES",
  "MULTIPART_DATA_AFTER",
  "MULTIPART_DATA_BEFORE",
  "MULTIPART_FILE_LIMIT_EXCEEDED",
  "MULTIPART_HEADER_FOLDING",
  "MULTIPART_INVALID_HEADER_FOLDING",
  "MULTIPART_INVALID_PART",
  "MULTIPART_INVALID_QUOTING",
  "MULTIPART_LF_LINE",
  "MULTIPART_MISSING_SEMICOLON",
  "MULTIPART_STRICT_ERROR",
  "MULTIPART_UNMATCHED_BOUNDARY",
  "INBOUND_DATA_ERROR",
  "URLENCODED_ERROR",
];

const BODY_READERS: readonly (readonly [string, CollectionReader])[] = [
  ["ARGS_POST", ({ body }) => entries(body.bodyArguments)],
  ["ARGS_POST_NAMES", namesOf("ARGS_POST")],
  ["ARGS", ({ get }) => [...get("ARGS_GET"), ...get("ARGS_POST")]],
  ["ARGS_NAMES", namesOf("ARGS")],
  ["ARGS_COMBINED_SIZE", ({ get }) => one(String(sizeOf(get("ARGS"))))],
  ["FILES", ({ body }) => body.files.map(({ name, filename }) => entry(name, filename))],
  ["FILES_NAMES", ({ body }) => body.files.map(({ name }) => entry(name, name))],
  ["FILES_SIZES", ({ body }) => body.files.map(({ name, bytes }) => entry(name, String(bytes)))],
  ["FILES_COMBINED_SIZE", ({ body }) => one(String(body.files.reduce((sum, { bytes }) => sum + bytes, 0)))],
  ["MULTIPART_FILENAME", ({ body }) => body.files.map(({ name, filename }) => entry(name, filename))],
  ["MULTIPART_NAME", ({ body }) => body.files.map(({ name }) => entry(name, name))],
  ["MULTIPART_PART_HEADERS", ({ body }) => entries(body.partHeaders)],
  ["REQBODY_ERROR", ({ body }) => flag(body.error !== "")],
  ["REQBODY_ERROR_MSG", value(({ body }) => body.error)],
  ["REQBODY_PROCESSOR", value(({ processor }) => processor)],
  ["REQBODY_PROCESSOR_ERROR", ({ body }) => flag(body.error !== "")],
  ["REQBODY_PROCESSOR_ERROR_MSG", value(({ body }) => body.error)],
  ["REQUEST_BODY", ({ body, isBodyShown }) => (isBodyShown ? one(body.text) : NONE)],
  ["REQUEST_BODY_LENGTH", value(({ body }) => String(body.bytes))],
  ["FULL_REQUEST", value(({ request, body }) => `${request.line}\n${headerLines(request.headers)}\n${body.text}`)],
  ["FULL_REQUEST_LENGTH", ({ get }) => one(String(get("FULL_REQUEST")[0]!.value.length))],
  ["XML:/*", ({ body }) => values(body.xmlTexts)],
  ["XML://@*", ({ body }) => values(body.xmlAttributes)],
  ...MULTIPART_FLAGS.map((name): [string, CollectionReader] => [name, ({ body }) => flag(body.flags.has(name))]),
];

const headerLines = (headers: readonly NamedValue[]): string => headers.map(({ name, value }) => `${name}: ${value}\n`).join("");

const RESPONSE_READERS: readonly (readonly [string, CollectionReader])[] = [
  ["RESPONSE_BODY", response(({ body }) => one(body))],
  ["RESPONSE_CONTENT_LENGTH", response(({ body }) => one(String(body.length)))],
  ["RESPONSE_CONTENT_TYPE", response((answer) => one(header(answer, "content-type")))],
  ["RESPONSE_HEADERS", response(({ headers }) => entries(headers))],
  ["RESPONSE_HEADERS_NAMES", namesOf("RESPONSE_HEADERS")],
  ["RESPONSE_PROTOCOL", response(({ protocol }) => one(protocol))],
  ["RESPONSE_STATUS", response(({ status }) => one(String(status)))],
  ["STATUS_LINE", response(({ protocol, status }) => one(`${protocol} ${status}`))],
  ["OUTBOUND_DATA_ERROR", () => flag(false)],
];

const time =
  (read: (date: Date) => number): CollectionReader =>
  ({ request }) =>
    one(String(read(new Date(request.timeMs))));

const REQUEST_READERS: readonly (readonly [string, CollectionReader])[] = [
  ["ARGS_GET", ({ request }) => entries(request.queryArguments)],
  ["ARGS_GET_NAMES", namesOf("ARGS_GET")],
  ["DURATION", () => one("0")],
  ["GEO", ({ request }) => (request.country === "" ? NONE : [entry("COUNTRY_CODE", request.country)])],
  ["PATH_INFO", () => NONE],
  ["QUERY_STRING", value(({ request }) => queryOf(request.target))],
  ["REMOTE_ADDR", value(({ request }) => request.remoteAddress)],
  ["REMOTE_HOST", value(({ request }) => request.remoteAddress)],
  ["REMOTE_PORT", value(({ request }) => String(request.remotePort))],
  ["REQUEST_BASENAME", ({ get }) => one(basename(get("REQUEST_FILENAME")[0]!.value))],
  ["REQUEST_COOKIES", ({ request }) => entries(request.cookies)],
  ["REQUEST_COOKIES_NAMES", namesOf("REQUEST_COOKIES")],
  ["REQUEST_FILENAME", value(({ request }) => decodePercent(pathOf(request.target)))],
  ["REQUEST_HEADERS", ({ request }) => entries(request.headers)],
  ["REQUEST_HEADERS_NAMES", namesOf("REQUEST_HEADERS")],
  ["REQUEST_LINE", value(({ request }) => request.line)],
  ["REQUEST_METHOD", value(({ request }) => request.method)],
  ["REQUEST_PROTOCOL", value(({ request }) => request.protocol)],
  ["REQUEST_URI", value(({ request }) => uriOf(request.target))],
  ["REQUEST_URI_RAW", value(({ request }) => request.target)],
  ["SERVER_ADDR", value(({ request }) => request.serverAddress)],
  ["SERVER_NAME", value(({ request }) => request.serverName)],
  ["SERVER_PORT", value(({ request }) => String(request.serverPort))],
  ["TIME", value(({ request }) => new Date(request.timeMs).toISOString().slice(11, 19))],
  ["TIME_DAY", time((date) => date.getUTCDate())],
  ["TIME_EPOCH", time((date) => Math.floor(date.getTime() / 1000))],
  ["TIME_HOUR", time((date) => date.getUTCHours())],
  ["TIME_MIN", time((date) => date.getUTCMinutes())],
  ["TIME_MON", time((date) => date.getUTCMonth())],
  ["TIME_SEC", time((date) => date.getUTCSeconds())],
  ["TIME_WDAY", time((date) => date.getUTCDay())],
  ["TIME_YEAR", time((date) => date.getUTCFullYear())],
  ["UNIQUE_ID", value(({ request }) => request.uniqueId)],
];

const READERS: ReadonlyMap<string, CollectionReader> = new Map([...REQUEST_READERS, ...BODY_READERS, ...RESPONSE_READERS]);
const OF_BODY = BODY_READERS.map(([name]) => name);
const OF_RESPONSE = RESPONSE_READERS.map(([name]) => name);
