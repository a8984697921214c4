import { charge } from "#rules/budget.ts";

const BYTE_STEPS = 4;
const TEXT_BYTES_MAX = 8192;

/**
 * Whether a text cannot end a statement that includes it: without a comment, SQL must follow, and in SQL no three names
 * are adjacent outside of strings, whatever the dialect calls a string. Texts are in lower case.
 */
export function isSentence(given: string): boolean {
  if (given.length > TEXT_BYTES_MAX || /--|#|\/\*|;|\0/.test(given)) return false;
  return ["'", '"', ""].every((quote) => {
    charge(given.length * BYTE_STEPS * DIALECTS.length);
    const texts = new Set(DIALECTS.map((dialect) => outside(given, quote, dialect)));
    return [...texts].every((text) => text === null || hasSentence(text));
  });
}

/** The ends of strings and quoted names by their beginnings. */
interface Dialect {
  readonly ends: ReadonlyMap<string, string>;
  readonly hasEscapes?: boolean;
  /** Begins a string whose end the text chooses itself: it may be the last such character. */
  readonly chosen?: string;
}

const QUOTES = [
  ["'", "'"],
  ['"', '"'],
] as const;

/** MySQL, SQLite and SQL Server, PostgreSQL, Oracle. */
const DIALECTS: readonly Dialect[] = [
  { ends: new Map([...QUOTES, ["`", "`"]]), hasEscapes: true },
  { ends: new Map([...QUOTES, ["`", "`"], ["[", "]"]]) },
  { ends: new Map(QUOTES), chosen: "$" },
  { ends: new Map(QUOTES), chosen: "q'" },
];

/**
 * The text outside of strings, if the value is inside such quotes, or inside none; null if it never leaves them. Inside of
 * quotes, the last string may be open, because the statement closes it.
 */
function outside(text: string, quote: string, { ends, hasEscapes, chosen }: Dialect): string | null {
  const endOf = (from: number, end: string): number => {
    for (let at = from; at < text.length; at++) {
      if (hasEscapes === true && text[at] === "\\") at++;
      else if (text[at] === end) {
        if (text[at + 1] !== end) return at;
        at++;
      }
    }
    return text.length;
  };
  let at = quote === "" ? 0 : endOf(0, quote) + 1;
  if (at > text.length) return null;
  let rest = "";
  while (at < text.length) {
    const end = ends.get(text[at]!);
    if (chosen !== undefined && text.startsWith(chosen, at)) at = Math.max(at + chosen.length, text.lastIndexOf(chosen.at(-1)!) + 1);
    else if (end !== undefined) {
      const to = endOf(at + 1, end);
      // Outside of quotes, an apostrophe without a partner is a part of a word.
      if (to === text.length && quote === "") return rest + text.slice(at);
      at = to + 1;
    } else {
      rest += text[at++]!;
      continue;
    }
    rest += " ? ";
  }
  return rest;
}

const WORDS =
  "and|or|not|xor|like|rlike|regexp|in|is|null|between|exists|select|from|where|union|all|distinct|order|group|by|having|limit|offset|as|asc|desc|" +
  "case|when|then|else|end|div|mod|true|false|binary|collate|into|outfile|dumpfile|procedure|sounds|escape|join|left|right|inner|outer|on|using|top|" +
  "table|values|row|set|update|delete|insert|drop|exec|waitfor|delay|any|some|interval|cast|convert|with|for|if|" +
  // Dialects have these beside names: no three of the rest can be adjacent.
  "at|zone|similar|ilike|glob|match|isnull|notnull|overlaps|varying|precision|preceding|following|unbounded|member|submultiset|" +
  "natural|cross|full|lateral|force|index|ignore|use|key|partition|tablesample|nulls|unknown";
/** Letters of other languages come as bytes of UTF-8. */
const WORD = String.raw`(?!(?:${WORDS})\b)[a-z\x80-\uffff]{2,40}`;
const SENTENCE = new RegExp(
  String.raw`(?:(?<![\w\x80-\uffff])${WORD}(?:'[a-z])? {1,2}){2}${WORD}(?![\w\x80-\uffff])|\(\d{1,6} (?!(?:char|byte)\))[a-z]{1,12}\)|\b(?:or|and) ?=|\bin (?!(?:boolean|natural|${WORDS})\b)[a-z]{2,20} (?!(?:${WORDS})\b)[a-z]{2,20}\b`,
);

/** Spaces of Unicode as bytes of UTF-8: some databases skip them as they skip a space. */
const OTHER_SPACES = /\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf/g;

const hasSentence = (text: string): boolean => SENTENCE.test(text.replace(OTHER_SPACES, " ").replace(/\s+/g, " "));

/**
 * A sign or a format in quotes that joins two strings to nothing in any dialect: behind it, a division by no number, an unknown column or an
 * error. Signs that compare, subtract or begin a comment are attacks behind the name of an account, and so is a number behind the sign.
 */
const QUOTED_SIGN =
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /(['"])(?:[/.:?!~$%@]|(?:%[a-z]){1,3})\1(?=[ \t]{0,3}(?:[a-z\x80-\uffff!?)]|[.,](?!\d)|$))/g;

/** Whether the only quotes of a text are around such signs, so that everything else would be inside of strings. Texts are in lower case. */
export function quotesOnlySigns(text: string): boolean {
  const rest = text.replace(QUOTED_SIGN, "");
  return rest !== text && !/['"]/.test(rest);
}
