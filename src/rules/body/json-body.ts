import { isUtf8 } from "node:buffer";
import { charge } from "#rules/budget.ts";
import { ARGUMENT_STEPS, type Findings, plainArgument } from "./body-reading.ts";
import { decodeCharset } from "./charsets.ts";
import { formArguments } from "./form.ts";
import { DEPTH_MAX, readJson } from "./json.ts";

/** Types with a JSON document per line. */
const LINES = /ndjson|jsonl|json-?lines|json-seq|stream\+json/;
const STRICT_STEPS = 3;

/**
 * Whether a text begins like a JSON object, array or string, after blanks, a byte order mark or a comment.
 * linear: pumped
 */
// linear: pumped
export const beginsAsJson = (text: string): boolean => /^(?:\xef\xbb\xbf)?[ \t\r\n]*(?:[{["]|\/[/*])/.test(text);

/** Adds every name and value of a text that some program may read as JSON. */
export function addJson(text: string, { args }: Findings): { readonly depth: number; readonly hasRepeats: boolean } {
  return readJson(text, (name, value, path) => {
    charge(ARGUMENT_STEPS);
    if (name !== "" || value !== "") args.push(plainArgument("json", name, value, path));
  });
}

/** Whether each line of a text is a JSON object or array. */
export function isJsonLines(text: string): boolean {
  if (!/^[{[]/.test(text) || !text.includes("\n")) return false;
  charge(text.length * STRICT_STEPS);
  return text.split("\n").every((line) => line.trim() === "" || (/^[{[]/.test(line) && parse(line) !== undefined));
}

/**
 * Adds a body with a JSON type, and the reasons why programs may read it differently. `isCut`: the body is longer than
 * `body`.
 */
export function addJsonBody(body: string, type: string, isCut: boolean, findings: Findings): void {
  const { causes } = findings;
  const text = textOf(body, isCut, findings);
  const { depth, hasRepeats } = addJson(text, findings);
  if (depth > DEPTH_MAX) causes.add("json-depth");
  if (hasRepeats) causes.add("json-repeated");
  if (isCut) return;
  const documents = LINES.test(type) ? text.split(/[\n\x1e]/).filter((line) => line.trim() !== "") : [text];
  charge(text.length * STRICT_STEPS);
  for (const document of documents) {
    const value = parse(document);
    if (value === undefined) return void causes.add("json-invalid");
    // Some programs read a document that is only a string as a form.
    if (typeof value === "string") formArguments(value, "form", "", findings.args);
  }
}

function parse(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return undefined;
  }
}

const BOMS: readonly (readonly [bom: string, charset: string])[] = [
  ["\xff\xfe\0\0", "utf-32le"],
  ["\0\0\xfe\xff", "utf-32be"],
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
  ["\xef\xbb\xbf", ""],
];
/** Positions of NUL in the first four bytes of texts that start with two ASCII characters (RFC 4627 §3). */
const NULS: Readonly<Record<string, string>> = { "0111": "utf-32le", "1110": "utf-32be", "0101": "utf-16le", "1010": "utf-16be" };

/** The body as UTF-8, without a byte order mark. */
function textOf(body: string, isCut: boolean, { causes }: Findings): string {
  const bom = BOMS.find(([mark]) => body.startsWith(mark));
  if (bom !== undefined) causes.add("json-bom");
  const nuls = Array.from(body.slice(0, 4), (char) => (char === "\0" ? "1" : "0")).join("");
  const charset = bom === undefined ? NULS[nuls] : bom[1];
  const rest = body.slice(bom?.[0].length ?? 0);
  if (charset !== undefined && charset !== "") {
    causes.add("json-charset");
    const order = charset.endsWith("be") ? -1 : 0;
    return decodeCharset(charset, rest).at(order) ?? rest;
  }
  if (/[\x80-\xff]/.test(rest) && !isUtf8Text(rest, isCut)) causes.add("json-utf8");
  return rest;
}

/** A cut may split a character, of which up to three bytes remain. */
function isUtf8Text(text: string, isCut: boolean): boolean {
  const bytes = Buffer.from(text, "latin1");
  return [0, 1, 2, 3].slice(0, isCut ? 4 : 1).some((missing) => isUtf8(bytes.subarray(0, Math.max(0, bytes.length - missing))));
}
