import { bodyReading, bodyText } from "#rules/body/request-body.ts";
import { rememberCharged } from "#rules/budget.ts";
import type { RequestView } from "#rules/views.ts";
import type { Field } from "./field.ts";
import { rememberLast, rememberTexts } from "#rules/text/memo.ts";
import { mimeOf } from "#rules/body/mime.ts";
import { type Multipart, multipartOf } from "#rules/expression/request/multipart.ts";
import { type NamedValues, readPairs } from "#rules/expression/request/request-parts.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import { arrayOf, BOOLEAN, INTEGER, mapOf, STRING, type Value, type ValueType } from "#rules/expression/values/value-type.ts";

const PREFIX = "http.request.body.";

export const isBodyField = ({ name }: Field): boolean => name.startsWith(PREFIX);

type Read = (request: RequestView) => Value | undefined;

const row = (name: string, type: ValueType, summary: string, read: Read): Field => ({
  name: `${PREFIX}${name}`,
  type,
  side: "request",
  summary,
  read,
});

const STRINGS = arrayOf(STRING);
const LISTS = arrayOf(STRINGS);

const mime = rememberLast(mimeOf);

interface FormTexts {
  readonly text: string;
  /** The bytes as sent, if the text is decompressed: most programs ignore Content-Encoding. */
  readonly sent: string;
}

const pairs = rememberCharged(
  ({ text, sent }: FormTexts) => (sent === text ? readPairs(text) : readPairs(text, sent)),
  (a, b) => a.text === b.text && a.sent === b.sent,
);

const isForm = rememberTexts((type: string) => lowerBytes(type).startsWith("application/x-www-form-urlencoded"));

function form(request: RequestView): NamedValues | undefined {
  if (request.body === undefined || !isForm(request.headers("content-type")[0] ?? "")) return undefined;
  return pairs({ text: bodyText(request), sent: request.body.raw });
}

const multiparts = rememberLast(multipartOf);
const multipart = (request: RequestView): Multipart | undefined =>
  request.body === undefined ? undefined : multiparts(bodyReading(request));

export const BODY_FIELDS: readonly Field[] = [
  row("form", mapOf(STRINGS), "Fields of a form (application/x-www-form-urlencoded) by name, not decoded.", form),
  row("form.names", STRINGS, "Names of all form fields, in order.", (request) => form(request)?.names),
  row("form.values", STRINGS, "Values of all form fields, in order.", (request) => form(request)?.all),
  row("mime", STRING, "Media type by the first bytes of the body.", (request) =>
    request.body === undefined ? undefined : mime(bodyText(request)),
  ),
  row("multipart", mapOf(STRINGS), "Values of the parts of a multipart body by name.", (request) => multipart(request)?.byName),
  row("multipart.content_dispositions", LISTS, "Content-Disposition of each part.", (request) => multipart(request)?.dispositions),
  row("multipart.content_transfer_encodings", LISTS, "Content-Transfer-Encoding of each part.", (request) => multipart(request)?.encodings),
  row("multipart.content_types", LISTS, "Content-Type of each part.", (request) => multipart(request)?.types),
  row("multipart.filenames", LISTS, "File names of each part.", (request) => multipart(request)?.filenames),
  row("multipart.names", LISTS, "Names of each part.", (request) => multipart(request)?.names),
  row("multipart.values", STRINGS, "Content of each part.", (request) => multipart(request)?.values),
  row("raw", STRING, "The body, as far as it is kept; decompressed where it has a Content-Encoding.", (request) =>
    request.body === undefined ? undefined : bodyText(request),
  ),
  row("size", INTEGER, "Length of the whole body in bytes.", (request) => request.body?.size),
  row(
    "truncated",
    BOOLEAN,
    "Whether the body is longer than the part that rules read, or contains something that programs interpret differently.",
    (request) => (request.body === undefined ? undefined : request.body.truncated || bodyReading(request).causes.size > 0),
  ),
];
