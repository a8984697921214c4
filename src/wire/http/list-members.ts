import { trimBlanks } from "#kernel/trim.ts";

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];

/**
 * The members of a list field without surrounding white space; empty ones are omitted (RFC 9110 §5.6.1). Commas in quoted
 * strings do not separate, and an unclosed quoted string extends to the end of the line.
 */
export function listMembers(line: string): readonly string[] {
  const members: string[] = [];
  let isQuoted = false;
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted && code === BACKSLASH) at++;
    else if (code === COMMA && !isQuoted) {
      members.push(line.slice(from, at));
      from = at + 1;
    }
  }
  members.push(line.slice(from));
  return members.map(trimBlanks).filter((member) => member !== "");
}
