import type { Argument, BodyFile, BodyReading } from "#rules/body/body-reading.ts";
import { cookieArguments } from "#rules/body/cookies.ts";
import { formArguments } from "#rules/body/form.ts";
import { readContentTypes } from "#rules/body/content-type.ts";
import { kindOfType, readBody } from "#rules/body/read-body.ts";
import { bodyReading } from "#rules/body/request-body.ts";
import { joinUri } from "#rules/expression/request/request-parts.ts";
import type {
  NamedValue,
  TransactionBody,
  TransactionFile,
  TransactionRequest,
  TransactionResponse,
} from "#rules/seclang/transaction/transaction.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** A request as rules in SecLang see it. Values that programs may read in several ways are there in each of them. */
export function transactionOf(request: RequestView): TransactionRequest {
  const target = joinUri(request.origin_path ?? request.path, request.query);
  const protocol = request.http_version ?? "HTTP/1.1";
  const body = bodyReading(request);
  return {
    method: request.method,
    target,
    protocol,
    line: `${request.method} ${target} ${protocol}`,
    headers: headersOf(request),
    cookies: argumentsOf(request.headers("cookie").flatMap(cookiesOf)),
    queryArguments: queryArguments(request.query),
    remoteAddress: request.client_ip,
    remotePort: 0,
    serverAddress: request.server_ip ?? "",
    serverName: request.host,
    serverPort: request.server_port ?? 0,
    uniqueId: request.ray_id,
    timeMs: request.at_ms ?? 0,
    country: request.place?.country ?? "",
    bodyProcessor: processorOf(request, body),
    readBody: (processor) => bodyOf(request, body, processor),
  };
}

/** A response as SecLang rules see it; its body is empty unless it was buffered for them. */
export function responseOf(response: ResponseView): TransactionResponse {
  const { names, values } = response.header_fields?.() ?? { names: [], values: [] };
  return {
    status: response.status,
    protocol: "HTTP/1.1",
    headers: names.map((name, i) => ({ name, value: values[i] ?? "" })),
    body: response.body ?? "",
  };
}

/**
 * Part of a body that the Core Rule Set inspects, as text and as arguments: for this much, its hundreds of patterns take
 * half of the steps that a request has (rules/budget.ts). The other rules inspect everything that was read.
 */
const BODY_CHARACTERS_MAX = 262_144;
/** Cost of an argument, in characters, beside its own. */
const ARGUMENT_CHARACTERS = 24;

/** Whether the Core Rule Set inspects less of a body than was read of it. */
export function isCut({ text, args, xml }: BodyReading): boolean {
  if (text.length > BODY_CHARACTERS_MAX) return true;
  const named = argumentsOf(args);
  return firstOf(named) !== named || firstTexts(xml).length < xml.length;
}

/** The first values, the last of them cut. */
function firstOf(found: readonly NamedValue[]): readonly NamedValue[] {
  let left = BODY_CHARACTERS_MAX;
  const kept: NamedValue[] = [];
  for (const { name, value } of found) {
    if (left <= 0) break;
    kept.push(value.length <= left ? { name, value } : { name, value: value.slice(0, left) });
    left -= name.length + value.length + ARGUMENT_CHARACTERS;
  }
  return kept.length === found.length && left >= 0 ? found : kept;
}

const firstTexts = (texts: readonly string[]): readonly string[] =>
  firstOf(texts.map((value) => ({ name: "", value }))).map(({ value }) => value);

/** ModSecurity's names of body processors. */
const PROCESSORS: Readonly<Record<BodyReading["kind"], string>> = {
  none: "",
  form: "URLENCODED",
  multipart: "MULTIPART",
  json: "JSON",
  xml: "XML",
  text: "",
  binary: "",
};

/** The type also chooses it if the body is empty. */
function processorOf(request: RequestView, { kind }: BodyReading): string {
  if (kind !== "none") return PROCESSORS[kind];
  const [type] = readContentTypes(request.headers("content-type"), new Set());
  return PROCESSORS[kindOfType(type?.type ?? "") ?? "none"];
}

/** Over HTTP/2 the host is in a pseudo-header field. */
function headersOf(request: RequestView): readonly NamedValue[] {
  const { names, values } = request.header_fields?.() ?? { names: [], values: [] };
  const headers = names.map((name, i) => ({ name, value: values[i] ?? "" }));
  return headers.some(({ name }) => name.toLowerCase() === "host") ? headers : [{ name: "Host", value: request.host }, ...headers];
}

function cookiesOf(line: string): readonly Argument[] {
  const found: Argument[] = [];
  cookieArguments(line, found);
  return found;
}

function queryArguments(query: string): readonly NamedValue[] {
  if (query === "") return [];
  const found: Argument[] = [];
  formArguments(query, "query", "", found);
  return argumentsOf(found);
}

/** Rules treat argument names as chosen by the client; names in XML belong to its documents. */
const XML_NAME = "xml";

/** Each argument with each name and each value that a program may read. */
const argumentsOf = (found: readonly Argument[]): readonly NamedValue[] =>
  found.flatMap(({ source, name, value, otherNames, otherValues, path }) => {
    const known = source === "json" ? (path === "" ? "json" : `json.${path}`) : source === "xml" ? XML_NAME : name;
    return [
      { name: known, value },
      ...otherNames.map((other) => ({ name: other, value })),
      ...otherValues.map((other) => ({ name: known, value: other })),
    ];
  });

/** `processor`: the body processor that a rule chose instead of the one for the content type. */
function bodyOf(request: RequestView, reading: BodyReading, processor: string): TransactionBody {
  const type = CHOSEN_TYPES[processor];
  const read =
    type === undefined || processor === PROCESSORS[reading.kind]
      ? reading
      : readBody({ raw: reading.text, truncated: request.body?.truncated ?? false, contentType: [type], contentEncoding: [] });
  return {
    text: read.text.slice(0, BODY_CHARACTERS_MAX),
    bytes: request.body?.size ?? 0,
    // The Core Rule Set reads the texts of a document as one.
    bodyArguments: firstOf(argumentsOf(read.args.filter(({ source }) => source !== "element"))),
    files: read.files.flatMap(filesOf),
    partHeaders: firstOf(partHeadersOf(read)),
    xmlTexts: firstTexts(read.xml),
    xmlAttributes: firstTexts(read.args.filter(({ source }) => source === "xml").map(({ value }) => value)),
    error: [...read.causes].join(", "),
    flags: new Set(read.kind === "multipart" && read.causes.size > 0 ? ["MULTIPART_STRICT_ERROR"] : []),
  };
}

const partHeadersOf = (reading: BodyReading): readonly NamedValue[] =>
  reading.parts.flatMap(({ names, lines }) => lines.map((value) => ({ name: names[0] ?? "", value })));

/** Each name and each file name that a program may read. */
function filesOf({ name, otherNames, filenames, text }: BodyFile): readonly TransactionFile[] {
  const of = (known: string, filename: string): TransactionFile => ({ name: known, filename, bytes: text.length });
  return [...filenames.map((filename) => of(name, filename)), ...otherNames.map((other) => of(other, filenames[0] ?? ""))];
}

const CHOSEN_TYPES: Readonly<Record<string, string>> = {
  URLENCODED: "application/x-www-form-urlencoded",
  JSON: "application/json",
  XML: "application/xml",
};
