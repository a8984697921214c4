import { rememberCharged } from "#rules/budget.ts";
import type { RequestView } from "#rules/views.ts";
import type { Field } from "./field.ts";
import { headerMap, headerValues } from "#rules/expression/request/header-maps.ts";
import { rememberLast, rememberLastOfTwo } from "#rules/text/memo.ts";
import {
  acceptedLanguages,
  extensionOf,
  joinUri,
  type NamedValues,
  readCookies,
  readPairs,
} from "#rules/expression/request/request-parts.ts";
import { arrayOf, BOOLEAN, INTEGER, mapOf, STRING, type Value, type ValueMap } from "#rules/expression/values/value-type.ts";

const LISTS = mapOf(arrayOf(STRING));
const STRINGS = arrayOf(STRING);

type Read<T> = (request: RequestView) => T | undefined;
type Row = Omit<Field, "side">;

const text = (name: string, summary: string, read: Read<string>): Row => ({ name, type: STRING, summary, read });
const integer = (name: string, summary: string, read: Read<number>): Row => ({ name, type: INTEGER, summary, read });
const strings = (name: string, summary: string, read: Read<readonly Value[]>): Row => ({ name, type: STRINGS, summary, read });
const lists = (name: string, summary: string, read: Read<ValueMap>): Row => ({ name, type: LISTS, summary, read });

const uriOf = rememberLastOfTwo(joinUri);
const uri: Read<string> = (request) => uriOf(request.path, request.query);
const originOf = rememberLastOfTwo((scheme: string, host: string) => `${scheme}://${host}`);
const fullUriOf = rememberLastOfTwo((origin: string, path: string) => `${origin}${path}`);
const extensions = rememberLast(extensionOf);
const isSameText = (a: string, b: string): boolean => a === b;
const pairs = rememberCharged((query: string) => readPairs(query), isSameText);
const args = (request: RequestView): NamedValues => pairs(request.query);

const receivedPath = (request: RequestView): string => request.received_path ?? request.path;
const receivedQuery = (request: RequestView): string => request.received_query ?? request.query;
const receivedUri = rememberLastOfTwo(joinUri);
const receivedFullUri = rememberLastOfTwo((origin: string, path: string) => `${origin}${path}`);
const receivedPairs = rememberCharged((query: string) => readPairs(query), isSameText);

const receivedExtensions = rememberLast((path: string) => extensionOf(path, false));

const joined = rememberLast((values: readonly string[]) => values.join("; "));
const cookies = rememberCharged(readCookies, isSameText);
const forwarded = rememberLast((values: readonly string[]) => values.join(", "));
const languages = rememberLast((values: readonly string[]) => acceptedLanguages(values.join(",")));

/** A header's values by its name. Not cached, because transforms change headers. */
const headers: Read<ValueMap> = (request) => headerMap(request);

export const REQUEST_FIELDS: readonly Field[] = (
  [
    text("http.cookie", "The whole Cookie header.", (request) => joined(request.headers("cookie"))),
    text("http.host", "The host name of the request, in lower case, without a port.", (request) => request.host),
    text("http.referer", "The Referer header; empty without one.", (request) => request.headers("referer")[0] ?? ""),
    strings("http.request.accepted_languages", "Languages of Accept-Language, most preferred first.", (request) =>
      languages(request.headers("accept-language")),
    ),
    lists("http.request.cookies", "Cookies by their URL-decoded names.", (request) => cookies(joined(request.headers("cookie")))),
    text("http.request.full_uri", "Scheme, host, path and query.", (request) =>
      fullUriOf(originOf(request.scheme, request.host), uriOf(request.path, request.query)),
    ),
    {
      ...lists("http.request.headers", "Header values by the header's name in lower case.", headers),
      readKey: (request, _response, name) => headerValues(request, name),
    },
    strings("http.request.headers.names", "Names of all headers, as received.", (request) => request.header_fields?.().names),
    {
      name: "http.request.headers.truncated",
      type: BOOLEAN,
      summary: "Whether there were too many headers; always false because the edge refuses such requests.",
      read: () => false,
    },
    strings(
      "http.request.headers.values",
      "Values of all headers, in the order of the names.",
      (request) => request.header_fields?.().values,
    ),
    text("http.request.method", "The method in upper case.", (request) => request.method),
    integer("http.request.timestamp.msec", "Millisecond part of the arrival time, 0 to 999.", (request) =>
      request.at_ms === undefined ? undefined : request.at_ms % 1000,
    ),
    integer("http.request.timestamp.sec", "Time of arrival in seconds of Unix time.", (request) =>
      request.at_ms === undefined ? undefined : Math.floor(request.at_ms / 1000),
    ),
    text("http.request.uri", "Path and query; the path as in http.request.uri.path.", uri),
    lists("http.request.uri.args", "Query arguments by name, not decoded.", args),
    strings("http.request.uri.args.names", "Names of all query arguments, in order.", (request) => args(request).names),
    strings("http.request.uri.args.values", "Values of all query arguments, in order.", (request) => args(request).all),
    text("http.request.uri.path", "The path, normalized if the zone wants that.", (request) => request.path),
    text("http.request.uri.path.extension", "The part of the path's last segment after its last dot, in lower case.", (request) =>
      extensions(request.path),
    ),
    text("http.request.uri.query", "The query, without the question mark.", (request) => request.query),
    text("http.request.version", "The version of HTTP: HTTP/1.1, HTTP/2 and so on.", (request) => request.http_version),
    text("http.user_agent", "The User-Agent header; empty without one.", (request) => request.user_agent),
    text("http.x_forwarded_for", "The whole X-Forwarded-For header.", (request) => forwarded(request.headers("x-forwarded-for"))),
    text("raw.http.request.full_uri", "Scheme, host, path and query as received.", (request) =>
      receivedFullUri(originOf(request.scheme, request.host), receivedUri(receivedPath(request), receivedQuery(request))),
    ),
    text("raw.http.request.uri", "Path and query as received.", (request) => receivedUri(receivedPath(request), receivedQuery(request))),
    lists("raw.http.request.uri.args", "Query arguments by name, as received.", (request) => receivedPairs(receivedQuery(request))),
    strings(
      "raw.http.request.uri.args.names",
      "Names of all query arguments, as received.",
      (request) => receivedPairs(receivedQuery(request)).names,
    ),
    strings(
      "raw.http.request.uri.args.values",
      "Values of all query arguments, as received.",
      (request) => receivedPairs(receivedQuery(request)).all,
    ),
    text("raw.http.request.uri.path", "The path as received.", receivedPath),
    text("raw.http.request.uri.path.extension", "The path's extension as received, with its case unchanged.", (request) =>
      receivedExtensions(receivedPath(request)),
    ),
    text("raw.http.request.uri.query", "The query as received.", receivedQuery),
  ] satisfies readonly Row[]
).map((row): Field => ({ side: "request", ...row }));
