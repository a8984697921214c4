/** Limits of Bootstring for names (RFC 3492 §5). */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const BIAS = 72;
const FIRST = 128;
const PREFIX = "xn--";

/** How much the next number is expected to need (RFC 3492 §6.1). */
function adapt(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let steps = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; steps += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return steps + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

const digitOf = (code: number): number => (code < 58 ? code - 22 : code - 97);

/** A label after `xn--` as people write it (RFC 3492 §6.2); undefined if it is none. */
function decode(label: string): string | undefined {
  const end = Math.max(label.lastIndexOf("-"), 0);
  const points = [...label.slice(0, end)].map((sign) => sign.codePointAt(0) ?? 0);
  let [at, n, i, bias] = [end === 0 ? 0 : end + 1, FIRST, 0, BIAS];
  while (at < label.length) {
    const before = i;
    for (let [weight, step] = [1, BASE]; ; step += BASE) {
      const digit = digitOf(label.charCodeAt(at++));
      if (!(digit >= 0 && digit < BASE)) return undefined;
      i += digit * weight;
      const least = Math.min(Math.max(step - bias, T_MIN), T_MAX);
      if (digit < least) break;
      weight *= BASE - least;
    }
    bias = adapt(i - before, points.length + 1, before === 0);
    n += Math.floor(i / (points.length + 1));
    i %= points.length + 1;
    if (n > 0x10ffff) return undefined;
    points.splice(i++, 0, n);
  }
  return String.fromCodePoint(...points);
}

/** A host name in the letters that its owner writes it with. A label that does not lead back to the same name stays as it is. */
export const shownName = (name: string): string =>
  isInternational(name)
    ? name
        .split(".")
        .map((label) => {
          const shown = label.startsWith(PREFIX) ? decode(label.slice(PREFIX.length)) : undefined;
          return shown !== undefined && asciiName(shown) === label ? shown : label;
        })
        .join(".")
    : name;

export const isInternational = (name: string): boolean => name.split(".").some((label) => label.startsWith(PREFIX));

/** A name as DNS has it; a text that is no name stays as it is. */
export function asciiName(name: string): string {
  if (/^[\u0021-\u007e]*$/.test(name)) return name.toLowerCase();
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}
