import { charge } from "#rules/budget.ts";
import { decodePercent } from "#rules/text/url-functions.ts";
import { type Argument, ARGUMENT_STEPS, type ArgumentSource, NO_READINGS } from "./body-reading.ts";
import { decodeCharset } from "./charsets.ts";

/** Calls `take` with each pair of `a=1&b=2` that is not empty, not decoded. A pair without `=` has an empty value. */
export function eachPair(text: string, take: (name: string, value: string) => void): void {
  let equals = text.indexOf("=");
  for (let at = 0; at < text.length;) {
    const found = text.indexOf("&", at);
    const end = found === -1 ? text.length : found;
    if (end > at) {
      if (equals !== -1 && equals < at) equals = text.indexOf("=", at);
      const middle = equals === -1 || equals > end ? end : equals;
      take(text.slice(at, middle), text.slice(Math.min(middle + 1, end), end));
    }
    at = end + 1;
  }
}

/** Adds the arguments of a query or of a form, for programs that split at `&` and for programs that also split at `;`. */
export function formArguments(text: string, source: ArgumentSource, charset: string, args: Argument[], isName = isAnyName): void {
  const take = (name: string, value: string): void => {
    if (isName(name)) args.push(formArgument(name, value, source, charset));
  };
  const first = MARKS.exec(text)?.[0].length ?? 0;
  if (first > 0) eachPair(text.slice(first), take);
  eachPair(text, take);
  if (text.includes(";")) eachInnerPair(text, take);
}

const isAnyName = (_name: string): boolean => true;

/** The arguments of a body that its type calls a text. Between marks, a long text has sentences, which are not names. */
export const textArguments = (text: string, args: Argument[]): void =>
  formArguments(text, "form", "", args, text.length > SHORT_BYTES_MAX ? isUsualName : isAnyName);

const SHORT_BYTES_MAX = 8192;
const isUsualName = (name: string): boolean => !/[ \t\r\n]/.test(name);

/** Pairs that only programs see that also split at `;`; text between two `&` without a `;` is the same pair for all. */
function eachInnerPair(text: string, take: (name: string, value: string) => void): void {
  for (let at = 0, semicolon = text.indexOf(";"); semicolon !== -1; semicolon = text.indexOf(";", at)) {
    const ampersand = text.indexOf("&", semicolon);
    const from = text.lastIndexOf("&", semicolon) + 1;
    const end = ampersand === -1 ? text.length : ampersand;
    eachPair(text.slice(from, end).replace(/;/g, "&"), take);
    at = end;
  }
}

/** Bytes before the first name that some programs remove: a question mark, a byte order mark, line breaks. */
const MARKS = /^(?:\?|\xef\xbb\xbf|[\r\n]+)/;

function formArgument(rawName: string, rawValue: string, source: ArgumentSource, charset: string): Argument {
  charge(ARGUMENT_STEPS);
  const name = decodePlus(rawName);
  const value = decodePlus(rawValue);
  let otherValues = rawValue.includes("%u") ? [decodeWide(rawValue)] : NO_READINGS;
  if (charset !== "") otherValues = [...otherValues, ...decodeCharset(charset, value)].slice(0, OTHERS_MAX);
  return { source, name, value, otherNames: otherNames(name, rawName), otherValues, path: name };
}

const OTHERS_MAX = 2;

const decodePlus = (text: string): string => decodePercent(text.includes("+") ? text.replaceAll("+", " ") : text);

/** Also decodes `%u0041`, as IIS and others do; characters above a byte become UTF-8. */
const decodeWide = (text: string): string =>
  decodePlus(
    text.replace(/%u([0-9A-Fa-f]{4})/g, (_whole, point: string) =>
      encodeBytes(Buffer.from(String.fromCharCode(Number.parseInt(point, 16)), "utf8").toString("latin1")),
    ),
  );

/** Escapes bytes that the decoding must not change. */
const encodeBytes = (bytes: string): string => bytes.replace(/[%+]/g, (char) => (char === "%" ? "%25" : "%2B"));

/** The name in PHP, and the parts of a name before and inside its brackets (PHP, Rack, qs). At most two. */
export function otherNames(name: string, rawName = name): readonly string[] {
  if (!UNUSUAL_NAME.test(name)) return rawName.includes("%u") ? [decodeWide(rawName)] : NO_READINGS;
  const readings = new Set<string>();
  const nul = name.indexOf("\0");
  const php = (nul === -1 ? name : name.slice(0, nul)).replace(/^ +/, "");
  const bracket = php.indexOf("[");
  const before = bracket > 0 ? php.slice(0, bracket) : php;
  readings.add(before.replace(/[. []/g, "_"));
  if (bracket >= 0) readings.add(bracket === 0 ? php.slice(1).replaceAll("]", "") : php.slice(bracket + 1).replace(/\]?\[|\]$/g, "."));
  readings.delete(name);
  return [...readings].slice(0, OTHERS_MAX);
}

const UNUSUAL_NAME = /[. [\0]/;
