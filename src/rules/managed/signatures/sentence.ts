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

/** Parts without which a quote that ends a string does little. */
const STATEMENT = /--|#|\/\*|;|\b(?:union|select|sleep|benchmark|waitfor|having|order by|exec)\b|[=<>|&]/;

/** Other languages come as bytes of UTF-8. */
const LETTER = /[a-z\x80-\uffff]/g;
/** Fewer letters could be a name before an attack. */
const LETTERS_MIN = 16;

/**
 * The text without signs that a sentence of any language quotes: `paths that begin with '/'`, `the option "--all"`. Texts
 * are in lower case, and stay as they are if the rest could belong to a statement.
 */
export function withoutQuotedSigns(text: string): string {
  if (!text.includes("'") && !text.includes('"')) return text;
  const rest = text.replace(QUOTED_SIGN, "?");
  if (rest === text || STATEMENT.test(rest)) return text;
  return (rest.match(LETTER)?.length ?? 0) < LETTERS_MIN ? text : rest;
}

/** The beginning of a document of HTML; links to places of it. */
const PROLOG =
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /^\s{0,20}(?:<\?xml(?: [a-z]{1,12}="[\w.:-]{0,40}"){1,4} ?\?>\s{0,20})?<!doctype [a-z]{1,10}(?:\s{1,20}public\s{1,20}"[-\w./ +]{0,120}")?(?:\s{0,20}"https?:\/\/[\w./-]{0,200}")?\s{0,20}>/;
const PLACE = /\bhref='#[\w.-]{1,100}'/g;

/** The text without quotes of HTML that cannot hold a part of a statement. Texts are in lower case. */
export const withoutDocumentQuotes = (text: string): string => (text.includes("<") ? text.replace(PROLOG, " ").replace(PLACE, " ") : text);
