import { PlatformError } from "#kernel/errors.ts";
import { badHeader } from "./auth.ts";

/** Deeper bodies serve no purpose and would exhaust the stack of whatever walks them. */
const DEPTH_MAX = 64;

/**
 * The value of a request body, or undefined where it is empty: clients send a JSON content type without a body
 * (contract.md §3). Throws `malformed_json`, or `invalid_request_headers` where the type is not JSON.
 */
export function readJsonBody(text: string, contentType: string | undefined): unknown {
  if (text.trim() === "") return undefined;
  if (!isJson(contentType)) throw badHeader(6105, "Invalid Content-Type header, valid values are application/json");
  const value = parse(text);
  if (isDeeper(value, DEPTH_MAX))
    throw new PlatformError("malformed_json", { message: `The body is nested more than ${DEPTH_MAX} levels deep` });
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (cause) {
    throw new PlatformError("malformed_json", { cause });
  }
}

const BYTE_ORDER_MARK = 0xfeff;

/** A body without a type is taken for JSON, which is all that this interface speaks. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return true;
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "" || type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"));
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (isDeeper(member, levels - 1)) return true;
  return false;
}
