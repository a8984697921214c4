import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { PlatformError } from "#kernel/errors/errors.ts";
import { badHeader } from "./auth.ts";

/** Deeper bodies are useless and would exhaust the stack of recursive code. */
const DEPTH_MAX = 64;

/**
 * Twice the values of the longest list that a request may contain (rules.list_items_max). Code that visits each value of
 * a body delays all other requests, and a body of the maximum size has room for millions.
 */
const VALUES_MAX = 500_000;

/** Limit of members of one object: larger ones cost ten times as much as a list of the same length. */
const MEMBERS_MAX = 10_000;

/**
 * The value of a request body, or undefined if it is empty: clients send a JSON content type without a body (contract.md
 * §3). Throws `malformed_json`, `body_too_large` or `invalid_request_headers` if the type is not JSON.
 */
export function readJsonBody(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw badHeader(6106, "Invalid Content-Encoding header, request bodies are not compressed");
  // Decoding would silently insert replacement characters.
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8");
  const text = bytes.toString("utf8");
  if (text.trim() === "") return undefined;
  if (!isJson(headers["content-type"])) throw badHeader(6105, "Invalid Content-Type header, valid values are application/json");
  const value = parse(text);
  checkValue(value, DEPTH_MAX, { values: 0 });
  return value;
}

const malformed = (message: string): PlatformError => new PlatformError("malformed_json", { message });
const tooLarge = (message: string): PlatformError => new PlatformError("body_too_large", { message });

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (cause) {
    throw new PlatformError("malformed_json", { cause });
  }
}

const BYTE_ORDER_MARK = 0xfeff;

/** A body without a type is read as JSON, the only format of this interface. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return true;
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "" || type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}

/** Refuses values that delay other requests, and values that could not be stored exactly. */
function checkValue(value: unknown, levels: number, seen: { values: number }): void {
  if (++seen.values > VALUES_MAX) throw tooLarge(`The body has more than ${VALUES_MAX} values`);
  if (typeof value === "string") return checkText(value);
  if (typeof value !== "object" || value === null) return;
  if (levels === 0) throw malformed(`The body is nested more than ${DEPTH_MAX} levels deep`);
  if (Array.isArray(value)) for (const item of value) checkValue(item, levels - 1, seen);
  else checkMembers(value as Readonly<Record<string, unknown>>, levels, seen);
}

function checkMembers(object: Readonly<Record<string, unknown>>, levels: number, seen: { values: number }): void {
  const names = Object.keys(object);
  if (names.length > MEMBERS_MAX) throw tooLarge(`An object in the body has more than ${MEMBERS_MAX} members`);
  for (const name of names) {
    checkText(name);
    checkValue(object[name], levels - 1, seen);
  }
}

/** PostgreSQL does not store U+0000, and half a surrogate pair has no UTF-8 form. */
function checkText(text: string): void {
  if (text.includes("\0")) throw malformed("A string in the body contains the character U+0000");
  if (!text.isWellFormed()) throw malformed("A string in the body contains an unpaired surrogate");
}
