import { withoutEnd } from "#kernel/trim.ts";
import { createHash } from "node:crypto";
import { CUSTOM_AND_RATE_LIMITS, HEADER_TRANSFORMS, REQUEST_TRANSFORMS, TRANSFORMS } from "./availability.ts";
import type { LanguageFunction, Parameter } from "./language-function.ts";
import { isTimedHmacValid } from "./timed-hmac.ts";
import { decodeUrl, removeQueryArguments } from "#rules/text/url-functions.ts";
import { BOOLEAN, STRING, type Value } from "#rules/expression/values/value-type.ts";

const string = (name: string, more: Partial<Parameter> = {}): Parameter => ({ name, takes: ["string"], ...more });
const integer = (name: string, more: Partial<Parameter> = {}): Parameter => ({ name, takes: ["integer"], ...more });
const flags = (name: string): Parameter => string(name, { only: "literal", optional: true });
const text = (value: Value | undefined): string => value as string;

const onlyOf = (value: Value | undefined, letters: string): boolean =>
  value === undefined || (typeof value === "string" && Array.from(value).every((letter) => letters.includes(letter)));

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function encodeBase64(source: string, url: boolean, padded: boolean): string {
  const bytes = Buffer.from(source, "latin1");
  const encoded = url ? bytes.toString("base64url") : withoutEnd(bytes.toString("base64"), "=");
  return padded ? encoded.padEnd(Math.ceil(encoded.length / 4) * 4, "=") : encoded;
}

/** RFC 9562 §5.4. */
function uuid4(source: string): string | undefined {
  if (source.length < 16) return undefined;
  const bytes = Buffer.from(source.slice(0, 16), "latin1");
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export const ENCODING_FUNCTIONS: readonly LanguageFunction[] = [
  {
    name: "decode_base64",
    stepsPerByte: 4,
    summary: "What a Base64 text stands for; missing where it is none.",
    parameters: [string("source", { only: "field" })],
    returns: STRING,
    filters: [...TRANSFORMS, ...CUSTOM_AND_RATE_LIMITS],
    values: TRANSFORMS,
    make: () => (source) => (BASE64.test(text(source)) ? Buffer.from(text(source), "base64").toString("latin1") : undefined),
  },
  {
    name: "encode_base64",
    stepsPerByte: 4,
    summary: 'Base64 of a string; "u" for the alphabet of URLs, "p" for padding.',
    parameters: [string("input"), flags("flags")],
    returns: STRING,
    filters: HEADER_TRANSFORMS,
    values: HEADER_TRANSFORMS,
    make: ([, options], problem) => {
      if (!onlyOf(options, "up")) problem(1, 'the flags are "u" and "p"');
      const given = options === undefined ? "" : text(options);
      return (input) => encodeBase64(text(input), given.includes("u"), given.includes("p"));
    },
  },
  {
    name: "is_timed_hmac_valid_v0",
    stepsPerByte: 0,
    summary: "Whether a token, `message separator timestamp-mac`, was created with the key (HMAC-SHA256) and is not too old.",
    parameters: [
      string("key", { only: "literal" }),
      string("message_mac"),
      integer("ttl", { only: "literal" }),
      integer("current_timestamp"),
      integer("length_of_separator", { only: "literal", optional: true }),
      flags("flags"),
    ],
    returns: BOOLEAN,
    filters: "everywhere",
    values: "everywhere",
    make: ([key, , ttl, , separator, options], problem) => {
      if (!onlyOf(options, "s")) problem(5, 'the flag is "s"');
      const token = { key: text(key), ttlSeconds: Number(ttl), separatorBytes: Number(separator ?? 0), urlSafe: options === "s" };
      if (token.separatorBytes < 0) problem(4, "the length must not be negative");
      return (_key, message, _ttl, now) => isTimedHmacValid(token, text(message), Number(now));
    },
  },
  {
    name: "remove_query_args",
    stepsPerByte: 20,
    summary: "The query without the arguments with these names.",
    parameters: [string("field", { fields: ["http.request.uri.query", "raw.http.request.uri.query"] }), string("query_param")],
    rest: string("query_param"),
    returns: STRING,
    filters: "nowhere",
    values: REQUEST_TRANSFORMS,
    make:
      () =>
      (query, ...names) =>
        removeQueryArguments(text(query), new Set(names.map(text))),
  },
  {
    name: "sha256",
    stepsPerByte: 20,
    summary: "The 32 bytes of the SHA-256 hash.",
    parameters: [string("input")],
    returns: STRING,
    filters: HEADER_TRANSFORMS,
    values: HEADER_TRANSFORMS,
    make: () => (input) => createHash("sha256").update(text(input), "latin1").digest().toString("latin1"),
  },
  {
    name: "url_decode",
    stepsPerByte: 0,
    summary: 'The string with percent escapes and + decoded; "r" repeats until nothing changes, "u" also decodes %uXXXX.',
    parameters: [string("source", { only: "field" }), flags("options")],
    returns: STRING,
    filters: "everywhere",
    values: "everywhere",
    make: ([, options], problem) => {
      if (!onlyOf(options, "ru")) problem(1, 'the options are "r" and "u"');
      const given = options === undefined ? "" : text(options);
      const decoding = { recursive: given.includes("r"), unicode: given.includes("u") };
      return (source) => decodeUrl(text(source), decoding);
    },
  },
  {
    name: "uuidv4",
    stepsPerByte: 0,
    summary: "A random UUID from random bytes such as cf.random_seed.",
    parameters: [string("source")],
    returns: STRING,
    filters: "nowhere",
    values: TRANSFORMS,
    make: () => (source) => uuid4(text(source)),
  },
];
