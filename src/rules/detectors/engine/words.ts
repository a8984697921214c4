import type { Anchor, Detector, Pattern } from "./detector.ts";

/** Words of a customer's own, which are found in any case. */
export interface WordList {
  readonly id: string;
  readonly name: string;
  /** Of three characters at least. */
  readonly words: readonly string[];
}

/** Finds whole words, whatever the case of their letters; texts are UTF-8. */
export function wordDetector({ id, name, words }: WordList): Detector {
  // The longest first, so that of "falcon" and "falcon nine" the whole is found.
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

/** Case by case, since the small form of a whole text may be longer or shorter than it. */
const fold = (text: string): string => Array.from(text, small).join("");
const small = (character: string): string => sameLength(character, character.toLowerCase());
const capital = (character: string): string => sameLength(character, character.toUpperCase());
const sameLength = (character: string, other: string): string => (other.length === character.length ? other : character);

/** Literals are told apart by three bytes. */
const LITERAL_BYTES = 3;

/** What the word may begin with, one character a byte. */
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
