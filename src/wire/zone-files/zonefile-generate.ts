import { RdataError } from "#wire/dns/errors.ts";
import { type Token, tokenize } from "#wire/dns/presentation.ts";

/**
 * The entries of `$GENERATE range owner [ttl] [class] type rdata`, as defined by BIND: `$` is the number,
 * `${offset,width,base}` the number in another form, `\$` a dollar sign. RDATA of several words is quoted or extends to
 * the end of the line. Throws RdataError.
 */
export function* generatedEntries(words: readonly Token[]): Generator<readonly Token[]> {
  const [range, owner, ...rest] = words;
  const numbers = rangeOf(range);
  if (owner === undefined || rest.length < 2) throw new RdataError("$GENERATE must be followed by a range, an owner, a type and its data.");
  const quoted = rest.at(-1)?.quoted === true && !rest.slice(0, -1).some((word) => word.quoted);
  for (let number = numbers.start; number <= numbers.stop; number += numbers.step) {
    const made = rest.map((word) => ({ raw: expand(word.raw, number), quoted: word.quoted }));
    const last = made.at(-1);
    const data = quoted && last ? [...made.slice(0, -1), ...tokenize(last.raw)] : made;
    yield [{ raw: expand(owner.raw, number), quoted: owner.quoted }, ...data];
  }
}

/** The number of entries of the directive. Throws RdataError if its range is invalid. */
export function generatedCount(words: readonly Token[]): number {
  const { start, stop, step } = rangeOf(words[0]);
  return Math.floor((stop - start) / step) + 1;
}

const NUMBER_MAX = 2 ** 31 - 1;

function rangeOf(word: Token | undefined): { start: number; stop: number; step: number } {
  const [, start, stop, step = "1"] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(word?.raw ?? "") ?? [];
  const range = { start: Number(start ?? Number.NaN), stop: Number(stop ?? Number.NaN), step: Number(step) };
  if (!(range.start <= range.stop && range.stop <= NUMBER_MAX && range.step >= 1))
    throw new RdataError("$GENERATE must be followed by a range such as 1-10 or 0-100/5.");
  return range;
}

/** An escaped character, `$$`, or `$` with its modifier. */
// linear: pumped
const PLACE = /\\[^]|\$\$|\$(?:\{[^}]*\}?)?/g;
const MODIFIER = /^\$\{(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?\}$/;
const WIDTH_MAX = 100;

function expand(text: string, number: number): string {
  return text.replace(PLACE, (place) => {
    if (place.startsWith("\\")) return place;
    if (place === "$$") return "\\$";
    if (place === "$") return String(number);
    const [whole, offset = "0", width = "0", base = "d"] = MODIFIER.exec(place) ?? [];
    if (whole === undefined || Number(width) > WIDTH_MAX)
      throw new RdataError(`$GENERATE has the modifier ${place.slice(0, 32)}, which is none.`);
    return written(number + Number(offset), Number(width), base);
  });
}

function written(value: number, width: number, base: string): string {
  if (base === "d") return `${value < 0 ? "-" : ""}${String(Math.abs(value)).padStart(width - (value < 0 ? 1 : 0), "0")}`;
  if (value < 0) throw new RdataError("$GENERATE makes a negative number, which has no form in this base.");
  if (base === "o") return value.toString(8).padStart(width, "0");
  const digits = value.toString(16);
  if (base === "x" || base === "X") return (base === "x" ? digits : digits.toUpperCase()).padStart(width, "0");
  return nibbles(base === "n" ? digits : digits.toUpperCase(), width);
}

/** Labels with the lowest digit first, as in reverse zones. The width includes the dots, so an even width ends with a dot. */
function nibbles(digits: string, width: number): string {
  let text = "";
  for (let at = digits.length - 1; at >= 0 || text.length < width; at -= 1) {
    text += digits[at] ?? "0";
    if (at > 0 || text.length < width) text += ".";
  }
  return text;
}
