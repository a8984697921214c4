/** Longer keys are cut to this length. */
export const KEY_CHARACTERS_MAX = 64;

/** Steps down a JSON text: members and array indexes; `*` in brackets is any of them. Indexes are in brackets as well. */
export type JsonSteps = readonly string[];

const ANY = "[*]";

/**
 * The steps of a path in RFC 9535's notation: `$.users[3].card`, `$["full name"]`, `$['full name']`, with `[*]` or `.*`
 * for any one step. Null for another text, or for a path with descendants, slices or filters.
 */
export function jsonSteps(path: string): JsonSteps | null {
  if (!path.startsWith("$")) return null;
  const steps: string[] = [];
  for (let rest = path.slice(1); rest !== "";) {
    const [text, name, place, double, single] = STEP.exec(rest) ?? [];
    if (text === undefined) return null;
    const quoted = double ?? single?.replaceAll('"', '\\"').replaceAll("\\'", "'");
    const member = quoted === undefined ? name : unquoted(quoted);
    if (member === null) return null;
    const isAny = name === "*" || place === "*";
    steps.push(isAny ? ANY : member === undefined ? `[${place ?? ""}]` : `.${member.slice(0, KEY_CHARACTERS_MAX)}`);
    rest = rest.slice(text.length);
  }
  return steps;
}

const STEP = /^(?:\.(\*|[^\s.[\]*'"?@()$]+)|\[(\*|\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\])/;

function unquoted(quoted: string): string | null {
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return null;
  }
}

/** Whether the steps, some of which may be wildcards, lead to the same place. */
export const fitsSteps = (wanted: JsonSteps, steps: JsonSteps): boolean =>
  wanted.length === steps.length && wanted.every((step, place) => step === ANY || step === steps[place]);

/** Whether a path matches a pattern with stars. Linear in both. */
export function fitsPath(wanted: string, path: string): boolean {
  const [first = "", ...others] = wanted.split("*");
  const last = others.pop();
  if (last === undefined) return path === wanted;
  let at = first.length;
  if (!path.startsWith(first)) return false;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
