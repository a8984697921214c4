import { trimBlanks } from "#kernel/trim.ts";

/** Where the fields of a request are read. */
export interface RequestFields {
  /** Values of every line of a field, by its lower-case name. */
  headers(name: string): readonly string[];
}

/**
 * The fields of a request that Vary names, in one string: two requests with the same one may have the same response
 * (RFC 9111 §4.1).
 */
export function secondaryKey(vary: readonly string[], request: RequestFields): string {
  let key = "";
  for (const name of vary) {
    const lines = request.headers(name);
    const value = lines.length === 0 ? null : name === "accept-encoding" ? codings(lines) : lines.map(normalized).join(",");
    // As JSON, no value can look like the end of it and the beginning of the next.
    key += JSON.stringify(value);
  }
  return key;
}

/** White space around the members of a list means nothing. */
const normalized = (value: string): string => (value.includes(",") ? value.split(",").map(trimBlanks).join(",") : value.trim());

/** Clients write the same codings in many orders; what they prefer among those they accept is not asked for. */
const codings = (lines: readonly string[]): string =>
  lines.some((line) => line.includes(";"))
    ? lines.map((line) => normalized(line).toLowerCase()).join(",")
    : [...new Set(lines.flatMap((line) => line.toLowerCase().split(",")).map((coding) => coding.trim()))].toSorted().join(",");
