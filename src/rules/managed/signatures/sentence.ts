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
