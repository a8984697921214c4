import { isVariable, takesName, VARIABLE_NAMES } from "./variable-table.ts";
import { refuse, slice, type Text, trimmed } from "./source-error.ts";

/** A variable of a rule: inspected, counted (`&`) or excluded (`!`). */
export interface VariableRef {
  readonly mode: "values" | "count" | "exclude";
  /** In capitals: a row of the table of variables. */
  readonly collection: string;
  readonly selector: Selector | null;
  readonly source: Text;
}

/** One name of a collection, in lower case, or the names that match a pattern. */
export type Selector = { readonly kind: "name"; readonly name: string } | { readonly kind: "pattern"; readonly pattern: Text };

const VARIABLES_MAX = 1000;

/** `ARGS|!ARGS:/^utm_/|&REQUEST_HEADERS:Host`; older rules separate by commas. */
export function readVariables(source: Text): readonly VariableRef[] {
  const parts = splitVariables(source);
  if (parts.length > VARIABLES_MAX) refuse(source, "too many variables in one rule");
  return parts.map(readVariable);
}

function splitVariables(source: Text): readonly Text[] {
  const { text } = source;
  const parts: Text[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === ":" && (text[at + 1] === "/" || text[at + 1] === "'")) {
      // A selector in slashes or quotes may contain separators. `XML:/*` is not a pattern: it has no closing slash.
      at = Math.max(at + 1, endOfSelector(text, at + 1));
    } else if (char === "|" || char === "," || char === undefined) {
      parts.push(trimmed(slice(source, start, at)));
      start = at + 1;
    }
  }
  return parts;
}

/** The last character of a selector that begins at `from`, or -1 if it is not closed. */
function endOfSelector(text: string, from: number): number {
  const quote = text[from]!;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote && isEnd(text[at + 1])) return at;
    else if (quote === "/" && (text[at] === "|" || text[at] === ",") && !text.slice(at).includes("/")) return -1;
  }
  return -1;
}

const isEnd = (char: string | undefined): boolean => char === undefined || char === "|" || char === "," || char === " ";

function readVariable(source: Text): VariableRef {
  const found = /^([&!]?)([A-Za-z0-9_]+)/.exec(source.text);
  if (found === null) return refuse(source, "expected a variable, such as ARGS or REQUEST_HEADERS:User-Agent");
  const collection = found[2]!.toUpperCase();
  if (!isVariable(collection)) return refuse(source, `unknown variable ${found[2]}; known are ${VARIABLE_NAMES}`, found[1]!.length);
  const rest = slice(source, found[0].length);
  const mode = found[1] === "&" ? "count" : found[1] === "!" ? "exclude" : "values";
  if (rest.text === "") return { mode, collection, selector: null, source };
  if (!rest.text.startsWith(":")) return refuse(rest, "expected : and a name, or | and the next variable");
  if (!takesName(collection)) return refuse(rest, `${collection} is one value, not a collection with names`);
  return { mode, collection, selector: readSelector(slice(rest, 1)), source };
}

export function readSelector(given: Text): Selector {
  const isQuoted = given.text.length > 1 && given.text.startsWith("'") && given.text.endsWith("'");
  const source = isQuoted ? slice(given, 1, given.text.length - 1) : given;
  if (source.text === "") return refuse(source, "expected a name behind :");
  if (source.text.length > 2 && source.text.startsWith("/") && source.text.endsWith("/") && !source.text.startsWith("//"))
    return { kind: "pattern", pattern: slice(source, 1, source.text.length - 1) };
  return { kind: "name", name: source.text.toLowerCase() };
}
