import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { PlatformError } from "#kernel/errors/errors.ts";
import { badHeader } from "./auth.ts";
import { exceededLimit } from "./json-shape.ts";

/** Deeper bodies are useless and would exhaust the stack of recursive code. */
const DEPTH_MAX = 64;

/**
 * Code that visits each value of a body delays all other requests: 0.6 ms for 1,000 values, and a body of the maximum size has
 * room for millions. Few routes have another limit (`values_max`).
 */
const VALUES_MAX = 50_000;

/** Limit of members of one object: larger ones cost ten times as much as a list of the same length. */
const MEMBERS_MAX = 10_000;

/**
 * The value of a request body, or undefined if it is empty: clients send a JSON content type without a body (contract.md
 * §3). Throws `malformed_json`, `body_too_large` or `invalid_request_headers` if the type is not JSON.
 */
export function readJsonBody(bytes: Buffer, headers: IncomingHttpHeaders, valuesMax = VALUES_MAX): unknown {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw badHeader(6106, "Invalid Content-Encoding header, request bodies are not compressed");
  // Decoding would silently insert replacement characters.
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8");
  const text = bytes.toString("utf8");
  if (text.trim() === "") return undefined;
  if (!isJson(headers["content-type"])) throw badHeader(6105, "Invalid Content-Type header, valid values are application/json");
  refuseLarge(bytes, valuesMax);
  const value = parse(text);
  const problem = problemOf(value);
  if (problem !== undefined) throw new PlatformError("malformed_json", { message: problem, source: pointerOf(value) ?? "" });
  return value;
}

const malformed = (message: string): PlatformError => new PlatformError("malformed_json", { message });
const tooLarge = (message: string): PlatformError => new PlatformError("body_too_large", { message });

/** Refuses texts that would delay other requests for long, before they are parsed. */
function refuseLarge(bytes: Buffer, valuesMax: number): void {
  const limit = exceededLimit(bytes, { depthMax: DEPTH_MAX, valuesMax, membersMax: MEMBERS_MAX });
  if (limit === "depth") throw malformed(`The body is nested more than ${DEPTH_MAX} levels deep`);
  if (limit === "values") throw tooLarge(`The body has more than ${valuesMax} values`);
  if (limit === "members") throw tooLarge(`An object in the body has more than ${MEMBERS_MAX} members`);
}

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

/** Why a string could not be stored exactly. */
function problemOf(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return firstProblem(value);
  return firstProblem(Object.keys(value)) ?? firstProblem(Object.values(value));
}

function firstProblem(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const problem = problemOf(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** PostgreSQL does not store U+0000, and half a surrogate pair has no UTF-8 form. */
function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "A string in the body contains the character U+0000";
  return text.isWellFormed() ? undefined : "A string in the body contains an unpaired surrogate";
}

/** The JSON pointer of the first string that has a problem; its own name is not shown. */
function pointerOf(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value) === undefined ? undefined : "";
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (textProblem(name) !== undefined) return "";
    const below = pointerOf(item);
    if (below !== undefined) return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}${below}`;
  }
  return undefined;
}
