import type { Anchor, Detector, Pattern } from "./detector.ts";

/** A customer's own words, which are found in any case. */
export interface WordList {
  readonly id: string;
  readonly name: string;
  /** Of at least three characters. */
  readonly words: readonly string[];
}

/** Finds whole words in any case; texts are UTF-8. */
export function wordDetector({ id, name, words }: WordList): Detector {
  // The longest first, so that "falcon nine" is found before "falcon".
  const folded = words.map(fold).toSorted((a, b) => b.length - a.length);
  const anchors = new Map(
    words.flatMap((word) => beginnings(word).map((text): [string, Anchor] => [text, { kind: "literal", text, word: /^\w/.test(word) }])),
  );
  const pattern: Pattern = {
    lastIndex: 0,
    exec: (window) => {
      const text = Buffer.from(window, "latin1").toString("utf8");
      for (const word of folded) {
        const found = text.slice(0, word.length);
        if (fold(found) !== word || continues(word, text.slice(word.length))) continue;
        return [Buffer.from(found, "utf8").toString("latin1")];
      }
      return null;
    },
  };
  return {
    id: `words.${id}`,
    rule_id: id,
    name,
    category: "custom",
    tags: [],
    anchors: [...anchors.values()],
    patterns: [pattern],
    accepts: () => true,
    confidence: "medium",
    enabled: true,
    hits: [],
    misses: [],
  };
}

/** Letter by letter, because the lower-case form of a whole text may have another length. */
const fold = (text: string): string => Array.from(text, small).join("");
const small = (character: string): string => sameLength(character, character.toLowerCase());
const capital = (character: string): string => sameLength(character, character.toUpperCase());
const sameLength = (character: string, other: string): string => (other.length === character.length ? other : character);

/** Literals are distinguished by three bytes. */
const LITERAL_BYTES = 3;

/** Possible beginnings of the word, one char per byte. */
function beginnings(word: string): string[] {
  let found = [""];
  for (const character of word) {
    const forms = [...new Set([small(character), capital(character)])].map((form) => Buffer.from(form, "utf8").toString("latin1"));
    found = found.flatMap((text) => (text.length >= LITERAL_BYTES ? [text] : forms.map((form) => text + form)));
  }
  return [...new Set(found)];
}

// linear: pumped
const continues = (word: string, rest: string): boolean => /[\p{L}\p{N}_]$/u.test(word) && /^[\p{L}\p{N}_]/u.test(rest);
