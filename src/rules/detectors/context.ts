/** A word as short as this counts only by itself: `sin` is a part of `using`. */
const SHORT_CHARACTERS_MAX = 3;

/**
 * Whether the text before a match, one char a byte and in lower case, names what it is. Words may have any letters, which bodies
 * hold in UTF-8. Words of up to three letters must not have letters beside them; longer
 * ones may be a part of a key such as `customerPassportNo`.
 */
export function contextTest(words: readonly string[]): (before: string) => boolean {
  const sources = words.map((word) => {
    const source = bytesOf(word).replace(/[^a-z0-9]/g, (char) => (char === " " ? "[ _-]?" : `\\${char}`));
    return /[^ -~]/.test(word) || word.length > SHORT_CHARACTERS_MAX ? source : `(?<![a-z])${source}(?![a-z])`;
  });
  const pattern = new RegExp(sources.join("|"));
  return (before) => pattern.test(before);
}

/** As `toLowerCase` leaves the bytes of a text that are taken for characters. */
const bytesOf = (word: string): string => Buffer.from(word).toString("latin1").toLowerCase();
