import { NO_BODY, type NamedValue, type TransactionBody, type TransactionFile } from "#rules/seclang/transaction/transaction.ts";
import { urlDecodeUni } from "#rules/seclang/transformations/encodings.ts";
import { htmlEntityDecode } from "#rules/seclang/transformations/encodings.ts";

/** Requests read as ModSecurity reads them, for its own rules' tests: the edge reads more strictly. Texts have one char a byte. */
export function readPlainBody(text: string, contentType: string, processor: string): TransactionBody {
  const body = { ...NO_BODY, text, bytes: text.length };
  if (text === "") return body;
  try {
    return { ...body, ...READERS[processor]?.(text, contentType) };
  } catch (error) {
    return { ...body, error: error instanceof Error ? error.message : "unreadable" };
  }
}

type Reader = (text: string, contentType: string) => Partial<TransactionBody>;

const READERS: Readonly<Record<string, Reader>> = {
  URLENCODED: (text) => ({ bodyArguments: readArguments(text) }),
  JSON: (text) => ({ bodyArguments: readJson(text) }),
  XML: (text) => readXml(text),
  MULTIPART: (text, contentType) => readMultipart(text, contentType),
};

/** The processor that ModSecurity's recommended configuration chooses. */
export function processorOf(contentType: string): string {
  const type = contentType.toLowerCase();
  if (type.startsWith("application/x-www-form-urlencoded")) return "URLENCODED";
  if (type.startsWith("multipart/form-data")) return "MULTIPART";
  if (/^(?:application(?:\/soap\+|\/)|text\/)xml/.test(type)) return "XML";
  return /^application\/(?:[a-z0-9.-]+\+)?json/.test(type) ? "JSON" : "";
}

export function readArguments(text: string): readonly NamedValue[] {
  return text
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals === -1
        ? { name: urlDecodeUni(pair), value: "" }
        : { name: urlDecodeUni(pair.slice(0, equals)), value: urlDecodeUni(pair.slice(equals + 1)) };
    });
}

export function readCookies(headers: readonly NamedValue[]): readonly NamedValue[] {
  return headers
    .filter(({ name }) => name.toLowerCase() === "cookie")
    .flatMap(({ value }) => value.split(";"))
    .map((pair) => pair.trimStart())
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals === -1 ? { name: pair, value: "" } : { name: pair.slice(0, equals), value: pair.slice(equals + 1) };
    });
}

const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

function readJson(text: string): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const walk = (value: unknown, name: string): void => {
    // libmodsecurity numbers the items of a list in their names.
    if (Array.isArray(value)) for (const [i, item] of value.entries()) walk(item, `${name}.array_${i}`);
    else if (typeof value === "object" && value !== null) for (const [key, item] of Object.entries(value)) walk(item, `${name}.${key}`);
    else found.push({ name: bytes(name), value: value === null ? "" : bytes(String(value as string | number | boolean)) });
  };
  walk(JSON.parse(Buffer.from(text, "latin1").toString("utf8")), "json");
  return found;
}

function readXml(text: string): Partial<TransactionBody> {
  let content = "";
  const attributes: string[] = [];
  for (const [, data, tag, plain] of text.matchAll(
    /<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>|<!\[CDATA\[([^]*?)\]\]>|<!--[^]*?-->|<([^>]*)>|([^<]+)/g,
  )) {
    if (data !== undefined) content += data;
    else if (plain !== undefined) content += htmlEntityDecode(plain);
    else if (tag !== undefined && !/^[?/!]/.test(tag))
      for (const [, double, single] of tag.matchAll(/\s[\w:.-]+\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
        attributes.push(htmlEntityDecode(double ?? single ?? ""));
  }
  return { xmlTexts: [content], xmlAttributes: attributes };
}

function readMultipart(text: string, contentType: string): Partial<TransactionBody> {
  const found = /boundary\s*=\s*(?:"([^"]*)"|([^;\s,]*))/i.exec(contentType);
  if (found === null) throw new Error("no boundary");
  const bodyArguments: NamedValue[] = [];
  const files: TransactionFile[] = [];
  const partHeaders: NamedValue[] = [];
  for (const piece of text.split(`--${found[1] ?? found[2]}`).slice(1)) {
    if (piece.startsWith("--")) break;
    const part = piece.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
    const end = part.search(/\r?\n\r?\n/);
    const lines = (end === -1 ? part : part.slice(0, end)).split(/\r?\n/);
    const value = end === -1 ? "" : part.slice(end).replace(/^\r?\n\r?\n/, "");
    const disposition = lines.find((line) => /^content-disposition\s*:/i.test(line)) ?? "";
    const parameter = (name: RegExp): string | undefined => {
      const match = name.exec(disposition);
      return match === null ? undefined : (match[1] ?? match[2]);
    };
    const name = parameter(/[;\s]name\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i) ?? "";
    const filename = parameter(/[;\s]filename\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/i);
    partHeaders.push(...lines.map((line) => ({ name, value: line })));
    if (filename === undefined) bodyArguments.push({ name, value });
    else files.push({ name, filename, bytes: value.length });
  }
  return { bodyArguments, files, partHeaders };
}
