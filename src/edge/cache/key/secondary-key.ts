import { requestedCodings } from "#edge/compression/accept-encoding.ts";
import { trimBlanks } from "#kernel/trim.ts";

/** Access to the fields of a request. */
export interface RequestFields {
  /** Values of each line of a field, by its lower-case name. */
  headers(name: string): readonly string[];
}

/** The request fields that Vary names, as one string: requests with equal strings may share a response (RFC 9111 §4.1). */
export function secondaryKey(vary: readonly string[], request: RequestFields): string {
  let key = "";
  for (const name of vary) {
    const lines = request.headers(name);
    const value = lines.length === 0 ? null : name === "accept-encoding" ? requestedCodings(lines) : lines.map(normalized).join(",");
    // JSON, so that no value can imitate the boundary between two values.
    key += JSON.stringify(value);
  }
  return key;
}

/** White space around list members has no meaning. */
const normalized = (value: string): string => (value.includes(",") ? value.split(",").map(trimBlanks).join(",") : value.trim());
