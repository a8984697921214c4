import type { BodyCause } from "./body-causes.ts";
import { isToken, readFieldValue, unescaped } from "./field-value.ts";

export interface ContentType {
  /** In lower case, without parameters; empty without a type. */
  readonly type: string;
  /** In lower case; empty without one. */
  readonly charset: string;
  /** Every boundary that some reader may use, the likeliest first. */
  readonly boundaries: readonly string[];
}

const NO_TYPE: ContentType = { type: "", charset: "", boundaries: [] };

// RFC 2046 §5.1.1.
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const MULTIPART_PARAMETERS: ReadonlySet<string> = new Set(["boundary", "charset", "type", "start", "start-info"]);
const BOUNDARIES_MAX = 3;
/** Further lines are not read. */
const LINES_MAX = 4;

/** The types that readers may take from the lines of Content-Type; only one, unless the lines are unusual. */
export function readContentTypes(lines: readonly string[], causes: Set<BodyCause>): readonly ContentType[] {
  if (lines.length === 0) return [NO_TYPE];
  if (lines.length > 1) causes.add("content-type");
  return lines.slice(0, LINES_MAX).map((line) => readContentType(line.trim(), causes));
}

export function readContentType(line: string, causes: Set<BodyCause>): ContentType {
  if (line === "") return NO_TYPE;
  const { main, parameters, isStrict } = readFieldValue(line);
  const isMultipart = main.startsWith("multipart/");
  const charsets = parameters.filter(({ name }) => name === "charset");
  const [type = "", subtype = "", ...more] = main.split("/", 3);
  const isType = isToken(type) && isToken(subtype) && more.length === 0;
  // An unusually quoted boundary is reported as a boundary, not as a type.
  if (!isType || charsets.length > 1 || (!isStrict && !isMultipart)) causes.add("content-type");
  return {
    type: isType ? main : looseType(main),
    charset: unescaped(charsets[0]?.value ?? "").toLowerCase(),
    boundaries: isMultipart ? boundariesOf(line, isStrict ? parameters : null, causes) : [],
  };
}

/** The type that some readers find in an invalid one. */
const looseType = (main: string): string =>
  /x-www-form-urlencoded/.test(main) ? "application/x-www-form-urlencoded" : (/^[^\s,]+/.exec(main)?.[0] ?? "");

function boundariesOf(
  line: string,
  parameters: readonly { readonly name: string; readonly value: string }[] | null,
  causes: Set<BodyCause>,
): readonly string[] {
  // linear: pumped
  const mentions = line.match(/boundary[ \t]{0,99}\*?[ \t]{0,99}=/gi) ?? [];
  const [own, ...more] = (parameters ?? []).filter(({ name }) => name === "boundary");
  const isSure = own !== undefined && more.length === 0 && mentions.length === 1 && BOUNDARY.test(own.value);
  if (isSure && parameters?.every(({ name }) => MULTIPART_PARAMETERS.has(name)) === true) return [own.value];
  causes.add("boundary");
  return guessedBoundaries(line);
}

/** The value after each mention of a boundary: as one word, and up to the ends that other readers use. */
function guessedBoundaries(line: string): readonly string[] {
  const found = new Set<string>();
  // linear: pumped
  for (const [, quoted, open, bare] of line.matchAll(/boundary[ \t]{0,99}\*?[ \t]{0,99}=[ \t]{0,99}(?:"([^"]*)"|"([^"]*)|([^;]*))/gi)) {
    const value = quoted ?? open ?? bare ?? "";
    for (const guess of [value, unescaped(value), /^[^\s,]*/.exec(value)?.[0] ?? "", value.replace(/^[^']{0,20}'[^']{0,20}'/, "")])
      if (guess !== "") found.add(guess.trim());
  }
  return [...found].slice(0, BOUNDARIES_MAX);
}
