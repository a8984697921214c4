import { charge } from "#rules/budget.ts";

const BYTE_STEPS = 4;
const TEXT_BYTES_MAX = 8192;

/**
 * Whether a text cannot end a statement that includes it: without a comment, SQL must follow, and in SQL no three names
 * are adjacent. Texts are in lower case.
 */
export function isSentence(given: string): boolean {
  if (given.length > TEXT_BYTES_MAX || /--|#|\/\*|;|\0/.test(given)) return false;
  charge(given.length * BYTE_STEPS);
  return ["'", '"', ""].every((quote) => (quote !== "" && !given.includes(quote)) || hasSentence(outside(given, quote)));
}

/** The text without quoted strings, if the value is inside such quotes, or inside none. */
function outside(text: string, quote: string): string {
  if (quote === "") return text.replace(/'[^']*'|"[^"]*"/g, " ? ");
  return text
    .split(quote)
    .filter((_, place) => place % 2 === 1)
    .join(" ? ");
}

const WORDS =
  "and|or|not|xor|like|rlike|regexp|in|is|null|between|exists|select|from|where|union|all|distinct|order|group|by|having|limit|offset|as|asc|desc|" +
  "case|when|then|else|end|div|mod|true|false|binary|collate|into|outfile|dumpfile|procedure|sounds|escape|join|left|right|inner|outer|on|using|top|" +
  "table|values|row|set|update|delete|insert|drop|exec|waitfor|delay|any|some|interval|cast|convert|with|for|if";
/** Letters of other languages come as bytes of UTF-8. */
const WORD = String.raw`(?!(?:${WORDS})\b)[a-z\x80-\uffff]{2,40}`;
const SENTENCE = new RegExp(
  String.raw`(?:(?<![\w\x80-\uffff])${WORD}(?:'[a-z])?[ ,]{1,2}){2}${WORD}(?![\w\x80-\uffff])|\(\d{1,6} [a-z]{1,12}\)|\b(?:or|and) ?=|\bin (?!(?:boolean|natural|${WORDS})\b)[a-z]{2,20} (?!(?:${WORDS})\b)[a-z]{2,20}\b`,
);

const hasSentence = (text: string): boolean => SENTENCE.test(text.replace(/\s+/g, " "));

/** A sign, an option or a format in quotes, behind a word. */
const QUOTED_SIGN =
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /(?<=[a-z]{2}[\s(,]{1,3}|[\x80-\uffff][\s(,]{0,3})(['"])(?:[-/~+*=<>.,:!?|%^@$_\\#&]{1,3}|--?[a-z%][\w%-]{0,40}|(?:%[a-z]@?){1,3})\1(?=[\s.,:;!?)]|$|[\x80-\uffff])/g;

/** A word of a sentence, and no part of a name or an address. */
const PROSE = /(?<![\w@.\x80-\uffff])[a-z\x80-\uffff]{2,40}(?![\w@\x80-\uffff]|\.\w)/g;
/** Fewer could be the name of an account, whose password an attack passes over: `ada@example.com '--'`. */
const PROSE_MIN = 4;
/** Bytes of UTF-8 in languages that do not separate words: eight characters. */
const OTHER_BYTES_MIN = 24;

/**
 * Whether the only quotes of a sentence in any language are around signs: `paths that begin with '/'`, `the option "--all"`. In a
 * statement, everything else would be inside of strings. Texts are in lower case.
 */
export function quotesOnlySigns(text: string): boolean {
  const rest = text.replace(QUOTED_SIGN, "?");
  if (rest === text || /['"]/.test(rest)) return false;
  return (rest.match(PROSE)?.length ?? 0) >= PROSE_MIN || rest.replace(/[\0-\x7f]/g, "").length >= OTHER_BYTES_MIN;
}

/** The beginning of a document of HTML; links to places of it. */
const PROLOG =
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /^\s{0,20}(?:<\?xml version="1\.[01]"(?: encoding="[a-z][\w-]{1,20}")?(?: standalone="(?:yes|no)")? ?\?>\s{0,20})?<!doctype [a-z]{1,10}(?:\s{1,20}public\s{1,20}"[-+]\/\/[-\w./ +]{0,120}")?(?:\s{0,20}"https?:\/\/[\w./-]{0,200}")?\s{0,20}>/;
const PLACE = /\bhref='#[\w.-]{1,100}'/g;

/** The text without quotes of HTML that cannot hold a part of a statement. Texts are in lower case. */
export const withoutDocumentQuotes = (text: string): string => (text.includes("<") ? text.replace(PROLOG, " ").replace(PLACE, " ") : text);
