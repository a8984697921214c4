import { type Argument, type BodyReading } from "#rules/body/body-reading.ts";
import { cookieArguments } from "#rules/body/cookies.ts";
import { formArguments } from "#rules/body/form.ts";
import { readBody } from "#rules/body/read-body.ts";
import { bodyReading } from "#rules/body/request-body.ts";
import { joinUri } from "#rules/expression/request/request-parts.ts";
import type { Named, TransactionBody, TransactionRequest } from "#rules/seclang/transaction/transaction.ts";
import type { RequestView } from "#rules/views.ts";

/** A request as rules in SecLang see it. What programs may read in several ways is there in each of them. */
export function transactionOf(request: RequestView): TransactionRequest {
  const target = joinUri(request.path, request.query);
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
    bodyProcessor: PROCESSORS[body.kind],
    readBody: (processor) => bodyOf(request, body, processor),
  };
}

/** ModSecurity's names of what reads a body. */
const PROCESSORS: Readonly<Record<BodyReading["kind"], string>> = {
  none: "",
  form: "URLENCODED",
  multipart: "MULTIPART",
  json: "JSON",
  xml: "XML",
  text: "",
  binary: "",
};

/** Over HTTP/2 the host stands in a field of its own kind. */
function headersOf(request: RequestView): readonly Named[] {
  const { names, values } = request.header_fields?.() ?? { names: [], values: [] };
  const headers = names.map((name, i) => ({ name, value: values[i] ?? "" }));
  return headers.some(({ name }) => name.toLowerCase() === "host") ? headers : [{ name: "Host", value: request.host }, ...headers];
}

function cookiesOf(line: string): readonly Argument[] {
  const found: Argument[] = [];
  cookieArguments(line, found);
  return found;
}

function queryArguments(query: string): readonly Named[] {
  if (query === "") return [];
  const found: Argument[] = [];
  formArguments(query, "query", "", found);
  return argumentsOf(found);
}

/** Each argument with each name and each value that a program may read. */
const argumentsOf = (found: readonly Argument[]): readonly Named[] =>
  found.flatMap(({ source, name, value, otherNames, otherValues, path }) => {
    const known = source === "json" ? (path === "" ? "json" : `json.${path}`) : name;
    return [
      { name: known, value },
      ...otherNames.map((other) => ({ name: other, value })),
      ...otherValues.map((other) => ({ name: known, value: other })),
    ];
  });

/** `processor`: what a rule has chosen instead of what the content type says. */
function bodyOf(request: RequestView, reading: BodyReading, processor: string): TransactionBody {
  const type = CHOSEN_TYPES[processor];
  const read =
    type === undefined || processor === PROCESSORS[reading.kind]
      ? reading
      : readBody({ raw: reading.text, truncated: request.body?.truncated ?? false, contentType: [type], contentEncoding: [] });
  return {
    text: read.text,
    bytes: request.body?.size ?? 0,
    bodyArguments: argumentsOf(read.args),
    files: read.files.flatMap(({ name, filenames, text }) => filenames.map((filename) => ({ name, filename, bytes: text.length }))),
    partHeaders: read.parts.flatMap(({ names, dispositions, types, encodings }) => [
      ...dispositions.map((value) => ({ name: names[0] ?? "", value: `Content-Disposition: ${value}` })),
      ...types.map((value) => ({ name: names[0] ?? "", value: `Content-Type: ${value}` })),
      ...encodings.map((value) => ({ name: names[0] ?? "", value: `Content-Transfer-Encoding: ${value}` })),
    ]),
    xmlTexts: read.xml,
    xmlAttributes: read.args.filter(({ source }) => source === "xml").map(({ value }) => value),
    error: [...read.causes].join(", "),
    flags: new Set(read.kind === "multipart" && read.causes.size > 0 ? ["MULTIPART_STRICT_ERROR"] : []),
  };
}

const CHOSEN_TYPES: Readonly<Record<string, string>> = {
  URLENCODED: "application/x-www-form-urlencoded",
  JSON: "application/json",
  XML: "application/xml",
};
