/** Whether a text matches a pattern, as in SQL: `%` is any text, `_` one character, and ASCII case is ignored. */
export function likeTest(pattern: string): (text: string) => boolean {
  const pieces = folded(pattern)
    .split("%")
    .map((piece) => Array.from(piece));
  const [first = [], ...rest] = pieces;
  const last = rest.pop();
  return (text) => {
    const characters = Array.from(folded(text));
    if (!standsAt(characters, first, 0)) return false;
    if (last === undefined) return characters.length === first.length;
    let at = first.length;
    for (const piece of rest) {
      while (at + piece.length <= characters.length && !standsAt(characters, piece, at)) at++;
      at += piece.length;
      if (at > characters.length) return false;
    }
    const end = characters.length - last.length;
    return end >= at && standsAt(characters, last, end);
  };
}

const folded = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

function standsAt(characters: readonly string[], piece: readonly string[], at: number): boolean {
  if (at + piece.length > characters.length) return false;
  for (let i = 0; i < piece.length; i++) if (piece[i] !== "_" && piece[i] !== characters[at + i]) return false;
  return true;
}
