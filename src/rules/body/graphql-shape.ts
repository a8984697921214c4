import { charge } from "#rules/budget.ts";

const BYTE_STEPS = 10;
const TEXT_BYTES_MAX = 65_536;

/** More than documents of programs have, even those that ask for a whole schema. */
const DEPTH_MAX = 40;
const ALIASES_MAX = 150;
const DIRECTIVES_MAX = 60;
/** Fields that guess a secret. */
const GUESSES =
  // linear: pumped
  /(?<!\w)(?:log_?in|sign_?in|authenticate|verify\w{0,24}|\w{0,24}(?:otp|password|pincode)\w{0,24}|redeem\w{0,24})(?=\s{0,4}\()/gi;
/** One operation has the name of its field, too. */
const GUESSES_MAX = 4;
/** Of one name behind itself: programs ask for a field once in a selection. */
const REPEATS_MAX = 8;
/** Fragments that are looked at; they refer to each other, so that the time grows with their cube. */
const FRAGMENTS_MAX = 64;

/**
 * Whether a text is a document of GraphQL that is made to keep a server busy: very deep, with one field or directive very often, with many
 * guesses of a secret, or with a fragment inside itself.
 */
export function overloadsGraphql(given: string): boolean {
  if (!/^\s{0,20}(?:query|mutation|subscription|fragment|\{)/.test(given)) return false;
  const text = given.slice(0, TEXT_BYTES_MAX);
  charge(text.length * BYTE_STEPS);
  const shape = shapeOf(text);
  if (shape === null) return false;
  return (
    shape.depth > DEPTH_MAX ||
    shape.aliases > ALIASES_MAX ||
    shape.directives > DIRECTIVES_MAX ||
    shape.repeats > REPEATS_MAX ||
    guessesOf(text) > GUESSES_MAX ||
    hasCycle(text)
  );
}

/** The most times that one such field is asked for, under several names or in several operations. */
function guessesOf(text: string): number {
  const counts = new Map<string, number>();
  for (const [name] of text.matchAll(GUESSES)) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** Fragments that include themselves, of which an interpreter that does not validate documents never gets to the end. */
function hasCycle(text: string): boolean {
  const [, ...definitions] = text.split(/\bfragment\s{1,4}(?=\w{1,80}\s{1,4}on\b)/, FRAGMENTS_MAX);
  const spreads = new Map(
    definitions.map((one) => [
      /^\w{1,80}/.exec(one)![0],
      new Set([...firstBlock(one).matchAll(/\.{3}\s{0,4}(\w{1,80})/g)].map(([, name]) => name!)),
    ]),
  );
  // Fragments that are left when those without a fragment inside are taken away, again and again, are a cycle or lead to one.
  for (let before = -1; before !== spreads.size;) {
    before = spreads.size;
    for (const [name, inner] of spreads) if (![...inner].some((one) => spreads.has(one))) spreads.delete(name);
  }
  return spreads.size > 0;
}

interface Shape {
  depth: number;
  aliases: number;
  directives: number;
  /** Most times that a name stands behind itself. */
  repeats: number;
}

const NAME = /@?[a-z_]\w*/iy;

/** Null for a text whose braces are those of another language: in a selection stand names, arguments in brackets and braces. */
function shapeOf(text: string): Shape | null {
  const shape: Shape = { depth: 0, aliases: 0, directives: 0, repeats: 0 };
  let depth = 0;
  let brackets = 0;
  let last = "";
  let repeats = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') {
      at = endOfText(text, at);
      // A name in quotes is one of JSON.
      if (brackets === 0 && /^\s{0,4}:/.test(text.slice(at + 1, at + 6))) return null;
    } else if (char === "(") brackets++;
    else if (char === ")") brackets--;
    else if (brackets > 0) continue;
    else if (char === "@" || isLetter(char)) {
      if (char === "@") shape.directives++;
      NAME.lastIndex = at;
      const name = NAME.exec(text)?.[0] ?? char;
      repeats = depth > 0 && name === last ? repeats + 1 : 0;
      shape.repeats = Math.max(shape.repeats, repeats);
      last = name;
      at += name.length - 1;
    } else if (char === "{") shape.depth = Math.max(shape.depth, ++depth);
    else if (char === "}") depth--;
    else if (char === ":" && depth > 0) shape.aliases++;
    else if (char === ";" || char === "=") return null;
  }
  return shape;
}

const isLetter = (char: string): boolean => /[a-z_]/i.test(char);

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** Up to the brace that ends the first one's selection. */
function firstBlock(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return text.slice(0, at);
  }
  return text;
}
