import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { charge } from "#rules/budget.ts";
import { CUSTOM_AND_RATE_LIMITS, REDIRECTS, TRANSFORMS } from "./availability.ts";
import type { FunctionBody, LanguageFunction, Parameter } from "./language-function.ts";
import { lookUpJson } from "#rules/expression/request/json-lookup.ts";
import {
  CASE_STEPS,
  endsWith,
  MADE_BYTES_MAX,
  rememberedLower,
  removeBytes,
  split,
  startsWith,
  substring,
  upperBytes,
} from "#rules/text/text-functions.ts";
import { arrayOf, BOOLEAN, INTEGER, IP, sameType, STRING, typeName, type Value } from "#rules/expression/values/value-type.ts";

const string = (name: string, more: Partial<Parameter> = {}): Parameter => ({ name, takes: ["string"], ...more });
const integer = (name: string, more: Partial<Parameter> = {}): Parameter => ({ name, takes: ["integer"], ...more });
const everywhere = { filters: "everywhere", values: "everywhere" } as const;

// The checker has checked the types.
const text = (value: Value | undefined): string => value as string;
const list = (value: Value | undefined): readonly Value[] => value as readonly Value[];
const number = (value: Value | undefined): number => Number(value);

const onText =
  (body: (value: string) => Value | undefined): (() => FunctionBody) =>
  () =>
  (value) =>
    body(text(value));

const onTexts =
  (body: (a: string, b: string) => Value): (() => FunctionBody) =>
  () =>
  (a, b) =>
    body(text(a), text(b));

const concatenateArrays = (values: readonly (Value | undefined)[]): Value =>
  values.flatMap((value) => (value === undefined ? [] : list(value)));

function concatenate(values: readonly (Value | undefined)[]): Value | undefined {
  let length = 0;
  for (const value of values) length += typeof value === "string" ? value.length : 20;
  return length > MADE_BYTES_MAX ? undefined : values.map((value) => (value === undefined ? "" : String(value))).join("");
}

function join(items: readonly Value[], separator: string): string | undefined {
  let length = 0;
  for (const item of items) length += text(item).length + separator.length;
  return length > MADE_BYTES_MAX ? undefined : items.join(separator);
}

const NETWORK_STEPS = 500;

/** The address with all but the first bits cleared. */
function network(address: string, bits4: number, bits6: number): string | undefined {
  charge(NETWORK_STEPS);
  const parsed = parseIp(address);
  if (parsed === undefined) return undefined;
  const bytes = parsed.bytes.slice();
  for (let bit = parsed.family === 4 ? bits4 : bits6; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) & ~(0x80 >> (bit & 7));
  }
  return formatIp({ family: parsed.family, bytes });
}

function bits(value: Value | undefined, max: number): number | undefined {
  const count = Number(value);
  return count >= 1 && count <= max ? count : undefined;
}

export const STRING_FUNCTIONS: readonly LanguageFunction[] = [
  {
    name: "all",
    stepsPerByte: 0,
    summary: "Whether every item is true; also true for an empty array.",
    parameters: [{ name: "answers", takes: ["booleans"] }],
    returns: BOOLEAN,
    ...everywhere,
    make: () => (answers) => list(answers).every((answer) => answer === true),
  },
  {
    name: "any",
    stepsPerByte: 0,
    summary: "Whether at least one item is true.",
    parameters: [{ name: "answers", takes: ["booleans"] }],
    returns: BOOLEAN,
    ...everywhere,
    make: () => (answers) => list(answers).includes(true),
  },
  {
    name: "bit_slice",
    stepsPerByte: 0,
    summary: "Bits of a packet. Rules cannot call it because this server does not process packets.",
    parameters: [string("protocol"), integer("offset_start"), integer("offset_end")],
    returns: INTEGER,
    filters: "nowhere",
    values: "nowhere",
    make: () => () => undefined,
  },
  {
    name: "cidr",
    stepsPerByte: 0,
    summary: "The network of an address, with this number of IPv4 or IPv6 bits.",
    parameters: [
      { name: "address", takes: ["ip"], only: "field" },
      integer("ipv4_network_bits", { only: "literal" }),
      integer("ipv6_network_bits", { only: "literal" }),
    ],
    returns: IP,
    filters: CUSTOM_AND_RATE_LIMITS,
    values: "nowhere",
    make: ([, four, six], problem) => {
      const bits4 = bits(four, 32) ?? problem(1, "ipv4_network_bits goes from 1 to 32");
      const bits6 = bits(six, 128) ?? problem(2, "ipv6_network_bits goes from 1 to 128");
      return (address) => network(text(address), bits4, bits6);
    },
  },
  {
    name: "cidr6",
    stepsPerByte: 0,
    summary: "The network of an IPv6 address; IPv4 addresses are unchanged.",
    parameters: [{ name: "address", takes: ["ip"], only: "field" }, integer("ipv6_network_bits", { only: "literal" })],
    returns: IP,
    filters: CUSTOM_AND_RATE_LIMITS,
    values: "nowhere",
    make: ([, six], problem) => {
      const bits6 = bits(six, 128) ?? problem(1, "ipv6_network_bits goes from 1 to 128");
      return (address) => network(text(address), 32, bits6);
    },
  },
  {
    name: "concat",
    stepsPerByte: 5,
    summary: "All values in one string, or all arrays in one array. A missing value is empty.",
    parameters: [{ name: "value", takes: ["string", "integer", "array"] }],
    rest: { name: "value", takes: ["string", "integer", "array"] },
    returns: (types) => (types[0]?.kind === "array" ? types[0] : STRING),
    agree: (types, problem) => {
      const first = types.find((type) => type.kind === "array");
      const odd = first === undefined ? -1 : types.findIndex((type) => !sameType(type, first));
      if (first !== undefined && odd !== -1) problem(odd, `concat() can join ${typeName(first)} only with the same type`);
    },
    ...everywhere,
    takesMissing: true,
    make: (_literals, _problem, gives) => {
      const body = gives.kind === "array" ? concatenateArrays : concatenate;
      return (...values) => body(values);
    },
  },
  {
    name: "ends_with",
    stepsPerByte: 0,
    summary: "Whether the string ends with another.",
    parameters: [string("source", { only: "field" }), string("substring")],
    returns: BOOLEAN,
    ...everywhere,
    make: onTexts(endsWith),
  },
  {
    name: "join",
    stepsPerByte: 1,
    summary: "The items of an array with a separator between them.",
    parameters: [{ name: "items", takes: ["strings"] }, string("separator")],
    returns: STRING,
    filters: [...TRANSFORMS, "http_request_firewall_custom", "http_custom_errors"],
    values: [...TRANSFORMS, "http_custom_errors"],
    make: () => (items, separator) => join(list(items), text(separator)),
  },
  {
    name: "len",
    stepsPerByte: 0,
    summary: "Bytes of a string, or items of an array.",
    parameters: [{ name: "value", takes: ["string", "array"] }],
    returns: INTEGER,
    ...everywhere,
    make: () => (value) => (value as string | readonly Value[]).length,
  },
  {
    name: "lookup_json_integer",
    stepsPerByte: 0,
    summary: "The integer at a position in a JSON document, given as attribute names and item numbers.",
    parameters: [string("field"), { name: "key", takes: ["string", "integer"] }],
    rest: { name: "key", takes: ["string", "integer"] },
    returns: INTEGER,
    ...everywhere,
    make:
      () =>
      (document, ...keys) => {
        const found = lookUpJson(text(document), keys);
        return found?.kind === "integer" ? found.value : undefined;
      },
  },
  {
    name: "lookup_json_string",
    stepsPerByte: 0,
    summary: "The string at a position in a JSON document, given as attribute names and item numbers.",
    parameters: [string("field"), { name: "key", takes: ["string", "integer"] }],
    rest: { name: "key", takes: ["string", "integer"] },
    returns: STRING,
    ...everywhere,
    make:
      () =>
      (document, ...keys) => {
        const found = lookUpJson(text(document), keys);
        return found?.kind === "string" ? found.value : undefined;
      },
  },
  {
    name: "lower",
    stepsPerByte: 0,
    summary: "The string with ASCII letters in lower case.",
    parameters: [string("source")],
    returns: STRING,
    ...everywhere,
    make: onText(rememberedLower),
  },
  {
    name: "remove_bytes",
    stepsPerByte: 4,
    summary: "The string without any of the given bytes.",
    parameters: [string("source"), string("bytes")],
    returns: STRING,
    ...everywhere,
    make: onTexts(removeBytes),
  },
  {
    name: "split",
    stepsPerByte: 0,
    summary: "The parts between separators, up to this number; the last contains the rest.",
    parameters: [string("input"), string("separator", { only: "literal" }), integer("limit", { only: "literal" })],
    returns: arrayOf(STRING),
    filters: ["http_response_headers_transform", "http_custom_errors"],
    values: ["http_response_headers_transform", "http_custom_errors"],
    make: ([, separator, limit], problem) => {
      if (separator === "") problem(1, "the separator is empty");
      const count = Number(limit);
      if (!(count >= 1 && count <= 128)) problem(2, "the limit goes from 1 to 128");
      return (input) => split(text(input), text(separator), count);
    },
  },
  {
    name: "starts_with",
    stepsPerByte: 0,
    summary: "Whether the string starts with another.",
    parameters: [string("source", { only: "field" }), string("substring")],
    returns: BOOLEAN,
    ...everywhere,
    make: onTexts(startsWith),
  },
  {
    name: "substring",
    stepsPerByte: 0,
    summary: "Bytes from one place to before another; negative places count from the end.",
    parameters: [string("field", { only: "field" }), integer("start"), integer("end", { optional: true })],
    returns: STRING,
    ...everywhere,
    make: () => (source, start, end) => substring(text(source), number(start), end === undefined ? undefined : number(end)),
  },
  {
    name: "to_string",
    stepsPerByte: 0,
    summary: "An integer, a boolean or an address as a string.",
    parameters: [{ name: "value", takes: ["integer", "boolean", "ip"] }],
    returns: STRING,
    filters: "nowhere",
    values: [...TRANSFORMS, ...REDIRECTS],
    make: () => String,
  },
  {
    name: "upper",
    stepsPerByte: CASE_STEPS,
    summary: "The string with ASCII letters in upper case.",
    parameters: [string("source")],
    returns: STRING,
    ...everywhere,
    make: onText(upperBytes),
  },
];
