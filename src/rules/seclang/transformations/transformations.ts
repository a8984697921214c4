import { createHash } from "node:crypto";
import * as encodings from "./encodings.ts";
import * as escapes from "./escapes.ts";
import * as paths from "./paths.ts";
import * as spaces from "./spaces.ts";

/** Transforms a value before the operator tests it. Texts have one char per byte. */
export interface Transformation {
  readonly apply: (text: string) => string;
  /** Texts without any of these bytes stay unchanged; null if every text may change. */
  readonly touches: string | null;
}

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SPACES = "\t\n\v\f\r \xa0";
const HIGH = Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join("");

const digest =
  (algorithm: string) =>
  (text: string): string =>
    createHash(algorithm).update(Buffer.from(text, "latin1")).digest().toString("latin1");

// ModSecurity Reference Manual, "Transformation functions"; British spellings as well.
const TABLE: Readonly<Record<string, Transformation>> = {
  base64Decode: { apply: encodings.base64Decode, touches: null },
  base64DecodeExt: { apply: encodings.base64DecodeExt, touches: null },
  base64Encode: { apply: encodings.base64Encode, touches: null },
  cmdLine: { apply: paths.cmdLine, touches: `"'\\^,; \t\r\n${CAPITALS}` },
  compressWhitespace: { apply: spaces.compressWhitespace, touches: SPACES },
  cssDecode: { apply: escapes.cssDecode, touches: "\\" },
  escapeSeqDecode: { apply: escapes.escapeSeqDecode, touches: "\\" },
  hexDecode: { apply: encodings.hexDecode, touches: null },
  hexEncode: { apply: encodings.hexEncode, touches: null },
  htmlEntityDecode: { apply: encodings.htmlEntityDecode, touches: "&" },
  jsDecode: { apply: escapes.jsDecode, touches: "\\" },
  length: { apply: (text) => String(text.length), touches: null },
  lowercase: { apply: paths.lowercase, touches: CAPITALS },
  md5: { apply: digest("md5"), touches: null },
  none: { apply: (text) => text, touches: "" },
  normalisePath: { apply: paths.normalizePath, touches: "/." },
  normalisePathWin: { apply: paths.normalizePathWin, touches: "/.\\" },
  normalizePath: { apply: paths.normalizePath, touches: "/." },
  normalizePathWin: { apply: paths.normalizePathWin, touches: "/.\\" },
  removeComments: { apply: spaces.removeComments, touches: "/-#" },
  removeCommentsChar: { apply: spaces.removeCommentsChar, touches: "*-#" },
  removeNulls: { apply: spaces.removeNulls, touches: "\0" },
  removeWhitespace: { apply: spaces.removeWhitespace, touches: SPACES },
  replaceComments: { apply: spaces.replaceComments, touches: "/" },
  replaceNulls: { apply: spaces.replaceNulls, touches: "\0" },
  sha1: { apply: digest("sha1"), touches: null },
  sqlHexDecode: { apply: encodings.sqlHexDecode, touches: "0" },
  trim: { apply: spaces.trim, touches: SPACES },
  trimLeft: { apply: spaces.trimLeft, touches: SPACES },
  trimRight: { apply: spaces.trimRight, touches: SPACES },
  uppercase: { apply: paths.uppercase, touches: CAPITALS.toLowerCase() },
  urlDecode: { apply: encodings.urlDecode, touches: "%+" },
  urlDecodeUni: { apply: encodings.urlDecodeUni, touches: "%+" },
  urlEncode: { apply: encodings.urlEncode, touches: null },
  utf8toUnicode: { apply: escapes.utf8toUnicode, touches: HIGH },
};

/** Every byte of their results is one of the text or a space. */
const NARROWING: ReadonlySet<string> = new Set([
  ...["cmdLine", "compressWhitespace", "lowercase", "none", "normalisePath", "normalizePath", "removeComments", "removeCommentsChar"],
  ...["removeNulls", "removeWhitespace", "replaceComments", "replaceNulls", "trim", "trimLeft", "trimRight", "uppercase"],
]);

/** Whether no result has a letter, a digit or a mark that the text lacks; letters without regard to case. */
export const isNarrowing = (name: string): boolean => NARROWING.has(transformationOf(name)?.name ?? "");

const BY_LOWER_NAME = new Map(Object.entries(TABLE).map(([name, row]) => [name.toLowerCase(), { name, ...row }]));

/** By name, in any case. */
export const transformationOf = (name: string): (Transformation & { readonly name: string }) | undefined =>
  BY_LOWER_NAME.get(name.toLowerCase());

export const TRANSFORMATION_NAMES = Object.keys(TABLE).join(", ");
