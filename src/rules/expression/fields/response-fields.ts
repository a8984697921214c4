import type { RequestView, ResponseView } from "#rules/views.ts";
import type { Field } from "./field.ts";
import { headerMap, headerValues } from "#rules/expression/request/header-maps.ts";
import { arrayOf, INTEGER, mapOf, STRING, type Value, type ValueMap } from "#rules/expression/values/value-type.ts";

type Read<T> = (response: ResponseView) => T | undefined;

const row = (name: string, type: Field["type"], summary: string, read: Read<Value>): Field => ({
  name,
  type,
  side: "response",
  summary,
  read: (_request, response) => (response === null ? undefined : read(response)),
});
const integer = (name: string, summary: string, read: Read<number>): Field => row(name, INTEGER, summary, read);
const text = (name: string, summary: string, read: Read<string>): Field => row(name, STRING, summary, read);
const strings = (name: string, summary: string, read: Read<readonly string[]>): Field => row(name, arrayOf(STRING), summary, read);

type Source = (response: ResponseView) => Pick<ResponseView, "headers" | "header_fields">;

const shown: Source = (response) => response;
const raw: Source = (response) => response.raw ?? response;

const headers = (name: string, summary: string, of: Source): Field => ({
  ...row(name, mapOf(arrayOf(STRING)), summary, (response): ValueMap => headerMap(of(response))),
  readKey: (_request: RequestView, response: ResponseView | null, key: string) =>
    response === null ? undefined : headerValues(of(response), key),
});

export const RESPONSE_FIELDS: readonly Field[] = [
  integer(
    "cf.response.1xxx_code",
    "The 1xxx code of an error page of the edge; 0 for other responses.",
    (response) => response.error_code ?? 0,
  ),
  text(
    "cf.response.error_type",
    "The source of an error page: waf, ratelimit, 1xxx, 5xx and so on; empty for other responses.",
    (response) => response.error_type ?? "",
  ),
  integer("cf.timings.edge_msec", "Time that the edge itself took, in milliseconds.", (response) => response.edge_ms),
  integer("cf.timings.origin_ttfb_msec", "Time until the origin's first byte, in milliseconds.", (response) => response.origin_ttfb_ms),
  integer("http.response.code", "The status code.", (response) => response.status),
  text("http.response.content_type.media_type", "The media type in lower case, without parameters.", (response) => response.content_type),
  headers("http.response.headers", "Header values by the header's name in lower case.", shown),
  strings("http.response.headers.names", "Names of all headers, as the origin sent them.", (response) => response.header_fields?.().names),
  strings(
    "http.response.headers.values",
    "Values of all headers, in the order of the names.",
    (response) => response.header_fields?.().values,
  ),
  headers("raw.http.response.headers", "The same, before any transform.", raw),
  strings("raw.http.response.headers.names", "The same, before any transform.", (response) => raw(response).header_fields?.().names),
  strings("raw.http.response.headers.values", "The same, before any transform.", (response) => raw(response).header_fields?.().values),
];
