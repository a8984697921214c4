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
const SENTENCE = new RegExp(
  String.raw`(?:\b(?!(?:${WORDS})\b)[a-z]{2,20}(?:'[a-z])?[ ,]{1,2}){2}(?!(?:${WORDS})\b)[a-z]{2,20}\b|\(\d{1,6} [a-z]{1,12}\)|\b(?:or|and) ?=|\bin (?!(?:boolean|natural|${WORDS})\b)[a-z]{2,20} (?!(?:${WORDS})\b)[a-z]{2,20}\b`,
);

const hasSentence = (text: string): boolean => SENTENCE.test(text.replace(/\s+/g, " "));
