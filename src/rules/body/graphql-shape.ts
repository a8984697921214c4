import { charge } from "#rules/budget.ts";

const BYTE_STEPS = 10;
const TEXT_BYTES_MAX = 65_536;

/** More than documents of programs have, even those that ask for a whole schema. */
const DEPTH_MAX = 40;
const ALIASES_MAX = 150;
const DIRECTIVES_MAX = 60;

/** Whether a text is a document of GraphQL that is made to keep a server busy: very deep, or with one field or directive very often. */
export function overloadsGraphql(given: string): boolean {
  if (!/^\s{0,20}(?:query|mutation|subscription|fragment|\{)/.test(given)) return false;
  const text = given.slice(0, TEXT_BYTES_MAX);
  charge(text.length * BYTE_STEPS);
  const shape = shapeOf(text);
  if (shape === null) return false;
  return shape.depth > DEPTH_MAX || shape.aliases > ALIASES_MAX || shape.directives > DIRECTIVES_MAX;
}

interface Shape {
  depth: number;
  aliases: number;
  directives: number;
}

/** Null for a text whose braces are those of another language: in a selection stand names, arguments in brackets and braces. */
function shapeOf(text: string): Shape | null {
  const shape: Shape = { depth: 0, aliases: 0, directives: 0 };
  let depth = 0;
  let brackets = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') {
      at = endOfText(text, at);
      // A name in quotes is one of JSON.
      if (brackets === 0 && /^\s{0,4}:/.test(text.slice(at + 1, at + 6))) return null;
    } else if (char === "(") brackets++;
    else if (char === ")") brackets--;
    else if (brackets > 0) continue;
    else if (char === "{") shape.depth = Math.max(shape.depth, ++depth);
    else if (char === "}") depth--;
    else if (char === "@") shape.directives++;
    else if (char === ":" && depth > 0) shape.aliases++;
    else if (char === ";" || char === "=") return null;
  }
  return shape;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
