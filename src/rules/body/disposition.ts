import { decodePercent } from "#rules/text/url-functions.ts";
import type { BodyCause } from "./body-causes.ts";
import { type FieldParameter, readFieldValue, unescaped } from "./field-value.ts";

/** The Content-Disposition of a part, as any program may read it. */
export interface Disposition {
  /** Every name that some program uses, the likeliest first; at most three. */
  readonly names: readonly string[];
  readonly filenames: readonly string[];
  /** As fields show them: one per line, without backslashes. */
  readonly shownNames: readonly string[];
  readonly shownFilenames: readonly string[];
}

const NAMES_MAX = 3;
const PARAMETERS: ReadonlySet<string> = new Set(["name", "filename", "filename*"]);
/** RFC 8187 §3.2.1. */
const EXTENDED = /^[\w-]*'[\w-]*'[\w%.!~*()+$&^`|#-]*$/;
const INNER = /;[ \t]{0,9}(?:file)?name\*?[ \t]{0,9}=/i;

/**
 * Reads the Content-Disposition lines of a part; a form's part has one line with one name. `needsName`: in
 * multipart/form-data, every part needs a name (RFC 7578 §4.2).
 */
export function readDisposition(lines: readonly string[], needsName: boolean, causes: Set<BodyCause>): Disposition {
  const values = lines.map((line) => ({ line, ...readFieldValue(line) }));
  if (values.length > 1 || (needsName && values.length === 0)) causes.add("disposition");
  for (const { line, main, parameters, isStrict } of values) {
    const counts = new Map<string, number>();
    for (const { name } of parameters) counts.set(name, (counts.get(name) ?? 0) + 1);
    const isForm = main === "form-data";
    const isSure =
      isStrict &&
      !line.endsWith(";") &&
      (isForm || !needsName) &&
      parameters.every(({ name, value }) => isKnown(name, value, isForm) && counts.get(name) === 1 && !INNER.test(`;${value}`.slice(1))) &&
      (!needsName || counts.has("name"));
    if (!isSure) causes.add("disposition");
  }
  const all = values.flatMap(({ parameters }) => parameters);
  return {
    names: readings(all, "name"),
    filenames: readings(all, "filename"),
    shownNames: values.flatMap((value) => shown(value.parameters, "name")),
    shownFilenames: values.flatMap((value) => shown(value.parameters, "filename")),
  };
}

const isKnown = (name: string, value: string, isForm: boolean): boolean =>
  isForm ? PARAMETERS.has(name) && (name !== "filename*" || EXTENDED.test(value)) : name !== "name*";

const shown = (parameters: readonly FieldParameter[], wanted: string): readonly string[] => {
  const first = parameters.find(({ name }) => name === wanted);
  return first === undefined ? [] : [unescaped(first.value)];
};

/** With and without backslashes: curl and Chromium send them unescaped, other programs double them. */
function readings(parameters: readonly FieldParameter[], wanted: "name" | "filename"): readonly string[] {
  const found = new Set<string>();
  for (const { name, value } of parameters) {
    if (name === wanted) found.add(unescaped(value)).add(value);
    if (name === `${wanted}*`) found.add(decodePercent(value.replace(/^[^']{0,40}'[^']{0,40}'/, "")));
  }
  return [...found].slice(0, NAMES_MAX);
}
