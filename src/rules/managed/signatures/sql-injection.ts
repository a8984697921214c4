import { charge } from "#rules/budget.ts";
import { quotesOnlySigns } from "./sentence.ts";
import { PLAIN_SHAPES, QUOTED_SHAPES, type SqlShape } from "#rules/seclang/sql/sql-shapes.ts";
import { readSql, type SqlTokens } from "#rules/seclang/sql/sql-tokens.ts";

/** Bytes of a longer value that are inspected, and again from each quote in the rest. */
const TEXT_BYTES_MAX = 8192;
const TOKEN_STEPS = 10;
const QUOTES = ["'", '"'] as const;

/**
 * Whether a text becomes part of the statement that includes it: after a number, or after a quote that ends a string. A
 * whole statement does not count, because its sender uses a program that accepts statements. Texts are in lower case.
 */
export function injectsSql(given: string): boolean {
  charge(Math.min(given.length, TEXT_BYTES_MAX) * TOKEN_STEPS);
  const begin = given.length > TEXT_BYTES_MAX ? given.slice(0, TEXT_BYTES_MAX) : given;
  const text = withoutNamedCalls(begin.replace(QUOTED_PERCENT, " % "));
  if (beginsStatement(text) || isFilter(text) || isChoice(text)) return leavesString(given);
  // Only separators are between its quotes.
  if (isFormula(text)) return leavesString(text.replace(/"[ &,;.:/()+-]{0,6}"/g, " "));
  // A quote that a program escapes once more ends the string all the same.
  if (text.includes("\\'") && injectsQuoted(text.replaceAll("\\'", "'"), "'")) return true;
  if (COLUMN_AND_TRUTH.test(text) || injectsPlain(text) || (!quotesOnlySigns(text) && QUOTES.some((quote) => injectsQuoted(text, quote))))
    return true;
  return given.length > TEXT_BYTES_MAX && injectsFarAway(given);
}

/** A whole statement, which a program runs as it is, unless the text would also end a string that a program puts it into. */
export const isStatement = (text: string): boolean => beginsStatement(text) && !leavesString(text);

/** Whether a text that begins as SQL ends the string that a program puts it into, wherever its first quote is. */
function leavesString(text: string): boolean {
  charge(text.length * 2);
  return QUOTES.some((quote) => {
    const tokens = readSql(text, quote);
    // A query directly behind a string is not SQL, and what has a name between two signs is a part of a pattern.
    if (tokens === null || /^s(?:E|T|[ao]n[ao])/.test(tokens.kinds)) return false;
    return (
      /^s\)*;?c$/.test(tokens.kinds) ||
      (/^s\)*[;&oaBUk,]/.test(tokens.kinds) && tokens.kinds.endsWith("c")) ||
      hasShape(OWN_QUOTED_SHAPES, tokens)
    );
  });
}

/** A column and a condition, and a constant that is compared with itself. */
const COLUMN_AND_TRUTH =
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /^[\s(]{0,8}(?:not\s)?[a-z_][\w.]{0,60}\s{0,4}(?:[=<>]|!=|in\s?\(|is\s|like\s|between\s|regexp\s).{0,400}\b(?:or|and)\b[\s(]{0,8}(\d{1,9}|'[^']{0,40}')\s{0,4}(?:=|like)\s{0,4}\1(?![\w.'])/s;

/** A text that starts like a whole statement: `select … from`, `insert into …`. */
function beginsStatement(given: string): boolean {
  const text = given.slice(0, 1024);
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  return /^\s{0,10}(?:(?:explain|explain analyze|begin;|start transaction;) ?)?(?:select\s(?!.{0,200}\b(?:into\s+(?:out|dump)file|load_file)).{1,400}?\sfrom\s|with\s+(?:recursive\s+)?["\w]{1,60}\s*(?:\([^)]{0,200}\)\s*)?as\s*\(|insert\s+(?:ignore\s+)?into\s+\S|replace\s+into\s+\S|update\s+\S{1,100}\s+set\s|delete\s+from\s+\S|create\s+(?:or\s+replace\s+)?(?:unique\s+|temporary\s+|materialized\s+)?(?:table|view|index|function|database|schema|user|role|trigger|procedure|type|extension|sequence)\s|alter\s+(?:table|user|role|database)\s|drop\s+(?:table|view|index|database|schema|user|role|function)\s|truncate\s+(?:table\s+)?\w|show\s+(?:tables|databases|create|columns|index|processlist|variables|status|grants)|describe\s+\w|grant\s+\w|merge\s+into\s|copy\s+\S{1,60}\s+(?:from|to)\s)/s.test(
    text,
  );
}

/** Conditions of OData have words for their operators, and strings in single quotes. */
const isFilter = (text: string): boolean =>
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /^[\s(]{0,8}(?:not )?(?:[a-z][\w/.]{0,80}|[a-z]{2,20}\([^()]{0,100}\)) (?:eq|ne|gt|ge|lt|le) /.test(text) &&
  !/[=<>#;`]|--|\/\*|\|\||&&|\b(?:union|select|sleep|having|benchmark|waitfor|like)\b/.test(text);

/** Spreadsheets have formulas with queries in them. */
const isFormula = (text: string): boolean =>
  /^=(?:query|filter|arrayformula|importrange|vlookup|xlookup|hlookup|index|match|sum|sumifs?|count|counta|countifs?|average|if|iferror|ifs|and|or|not|concat|concatenate|textjoin|join|hyperlink|text|left|right|mid|substitute|unique|sort|sortn|lower|upper|trim|len|search|find|regexmatch|regexextract|regexreplace|choose|switch|image|split|round|min|max|date)\(/.test(
    text,
  ) &&
  text.trimEnd().endsWith(")") &&
  !/--|#|\/\*/.test(text);

/** One number or another, as people search for them. */
const isChoice = (text: string): boolean => {
  const [, first, second] = /^\s{0,4}(\d{1,6}) (?:or|and) (\d{1,6})\s{0,4}$/.exec(text) ?? [];
  return (first !== undefined && first !== second) || /^\s{0,4}(?:true or false|false or true|true and false)\s{0,4}$/.test(text);
};

/** Every further part of a long text that starts at a quote, up to the next quotes. */
function injectsFarAway(text: string): boolean {
  for (let from = TEXT_BYTES_MAX - OVERLAP; from < text.length; from += TEXT_BYTES_MAX - OVERLAP) {
    const piece = text.slice(from, from + TEXT_BYTES_MAX);
    charge(piece.length);
    if (!FAR_SIGN.test(piece)) continue;
    charge(piece.length * TOKEN_STEPS);
    if (injectsPlain(piece) || QUOTES.some((quote) => injectsQuoted(piece, quote))) return true;
  }
  return false;
}

/** A sign in quotes before words: whatever it ends and begins again, the words are in a text as before. */
const QUOTED_PERCENT = / ['"]%['"] (?=[a-z]{2,20} [a-z]{2,20}\b)/g;

/**
 * Without the calls that a text only names. A call that is in quotes as a whole, as in a search, is a string in any statement, or stands
 * between two without an operator. Two names behind a call are of a title: SQL has one at most.
 */
export const withoutNamedCalls = (text: string): string =>
  text.includes("sleep") ? text.replace(QUOTED_CALL, " % ").replace(TITLE, " ") : text;

const QUOTED_CALL =
  // linear: pumped
  /(?<=^|[ ~=:(])(["'])sleep ?\( ?\d{1,4} ?\)\1(?=[ ,)]|$)/g;

/** Words that continue an expression or a query behind a call. */
const CONTINUES =
  "(?:and|or|xor|as|from|where|union|except|intersect|minus|order|group|having|limit|offset|fetch|window|over|into|like|rlike|regexp|sounds|member|is|in|not|between|div|mod|collate|procedure|for|lock|asc|desc|select|returning|join|natural|cross|inner|left|right|full|on|using|when|then|else|end)\\b";

// At the beginning of a text only, and its repetitions are bounded.
const TITLE = new RegExp(`^[ /]?sleep ?\\( ?\\d{1,4} ?\\) (?!${CONTINUES})[a-z]{3,20} (?!${CONTINUES})[a-z]{3,20}(?= |$)`);

const OVERLAP = 512;
/** A sign that every text that continues after a quote or a number contains, and few documents. */
const FAR_SIGN =
  /['"][\s)]{0,8}(?:or|and|xor|union|having|order|rlike|like|in|is|limit|into|procedure|;|\|\||&&|--|#)|\bunion\b|\b(?:sleep|benchmark|waitfor)\b/;

function injectsPlain(text: string): boolean {
  const tokens = readSql(text, "")!;
  if (tokens.hasConditional && /[UETBF&]/.test(tokens.kinds)) return true;
  if (tokens.hasComment && /^.{0,5}[1s]U/.test(tokens.kinds)) return true;
  return hasShape(OWN_PLAIN_SHAPES, tokens) || comparesConstants(text, tokens);
}

/** A name in double quotes is not a constant, unless it is compared with itself; in a search, every text in them is a name. */
function comparesConstants(text: string, tokens: SqlTokens): boolean {
  if (!hasShape(CONSTANTS, tokens)) return false;
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  if (!text.includes('"') || /"([^"]{0,60})"\s*(?:=|like)\s*"\1"/.test(text)) return true;
  return hasShape(CONSTANTS, readSql(text.replace(isSearch(text) ? /"[^"]{0,400}"/g : /"[a-z][^"]{0,60}"/g, " n "), "")!);
}

function injectsQuoted(text: string, quote: "'" | '"'): boolean {
  if (!text.includes(quote)) return false;
  const tokens = readSql(text, quote);
  if (tokens === null) return false;
  if (isLiteral(text, quote)) return false;
  // Words in quotes with a word between them, which do not make a true condition.
  if (quote === '"' && /^s(?:&s)+$/.test(tokens.kinds) && !/"\s*[0-9]/.test(text)) return false;
  if (/^s\)*;?c$/.test(tokens.kinds)) return !isReference(text) && endsStatement(text, quote, tokens);
  // A text in the other kind of quotes is not ended by what follows in the statement.
  if (tokens.kinds === "s&s" && tokens.openQuote !== "" && tokens.openQuote !== quote) return false;
  if (quote === '"' && isQuotation(text)) return false;
  // A search for a word of SQL: nothing but the text behind it would be queried.
  if (quote === '"' && /^sU?E\(?s$/.test(tokens.kinds) && isSearch(text)) return false;
  // A path in quotes has names with slashes between them.
  const isNames = NAMES.test(tokens.kinds) && !/^\/[\w.]/.test(text.slice(text.indexOf(quote) + 1));
  return isNames || hasShape(OWN_QUOTED_SHAPES, tokens);
}

/** A whole statement as a text of a program: an argument of a call, or assigned. */
function isLiteral(text: string, quote: string): boolean {
  const at = text.indexOf(quote);
  const before = text.slice(0, at);
  return /^[$a-z_][^'"\x60#;]{0,200}[(=]\s?$/.test(before) && beginsStatement(text.slice(at + 1)) && !/--|\/\*|\bunion\b/.test(text);
}

/** A whole statement in quotes, with several words of a sentence before it and after it. */
function isQuotation(text: string): boolean {
  const [before = "", inner = "", after = "", ...more] = text.split('"', 4);
  const isProse = (part: string): boolean => part.slice(0, 200).split(" ").filter(isWord).length >= 2;
  return more.length === 0 && !/--|#|;|\/\*/.test(text) && beginsStatement(inner) && isProse(before) && isProse(after);
}

const isWord = (text: string): boolean => /^[a-z]{2,20}[,.?!]{0,3}$/.test(text);

/** A reference to another place of a document, in YAML or JSON. */
const isReference = (text: string): boolean => /^[$"'\w-]{1,40}: ?['"]#\/[\w./-]{1,200}['"],?$/.test(text.trim());

/** A comment after a quote ends a statement if the comment is empty, or if only one word precedes the quote. */
const endsStatement = (text: string, quote: string, { lastComment }: SqlTokens): boolean =>
  /^[\s+;*/-]*$/.test(lastComment) || /^[^\s([{]{0,200}$/.test(text.slice(0, text.indexOf(quote)).trim());

/** Languages for searches compare names with texts, and join that with `and`: JQL, Lucene, filters of interfaces. */
const isSearch = (text: string): boolean =>
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  /^[\s(]*(?:not )?(?:[a-z][\w.]{0,60}|"[\w .[\]-]{1,60}") *(?:!?[=~:]|[<>]=?|(?:not )?in *\(|is (?:not )?(?:empty|null))/.test(text) &&
  !/--|\/\*|#|;/.test(text);

const shape = (name: string, source: string): SqlShape => ({ name, pattern: new RegExp(source) });
const hasShape = (shapes: readonly SqlShape[], { kinds }: SqlTokens): boolean => shapes.some(({ pattern }) => pattern.test(kinds));

/** A name behind a text, as in what is quoted in a sentence, is none of a statement. */
const NAMES = /^s\)*[ao]n[ao](?!sn)/;

/** Compared constants after a condition; a comparison before it makes that a mathematical sentence unless a comment follows. */
const CONSTANTS: readonly SqlShape[] = [
  shape("number, constants compared", String.raw`^[1n)(]{0,6}&[(a]*(?:1\)*o[(a]*[1s]|s\)*o[(a]*[1s])`),
  shape("constants compared, comment", String.raw`^.{0,12}&[(a]*(?:1\)*o[(a]*[1s]|s\)*o[(a]*[1s]).{0,10}c$`),
];

const OWN_PLAIN_SHAPES: readonly SqlShape[] = [
  ...PLAIN_SHAPES.filter(({ name }) => !["constants compared", "definition", "call"].includes(name)),
  shape("call, not of words", String.raw`(?:^|[s1)&oa(,;])F\((?!n\)|1n\)|1\)n+$)`),
  shape("call that compares constants", String.raw`^f\([(a]*1\)*o1,`),
  shape("definition, not of two names", String.raw`^Tn(?:c|;(?!nn)|\(.*\)[;c]?$)|^T(?:n\.)*n\(.{1,30}k\(`),
  shape("closed, condition", String.raw`^[1n]\)+(?:kn)?(?:k[(a]*[1s]o|&+[(a]*[1sn(fF])`),
  shape("number, condition", String.raw`^[(a]*1k[1s]o[1s]`),
  shape("number, case", String.raw`^[1n]\)*,[(a]*(?:C|E[(a]*[(C1sV])|^1\)*&+\(?E|^n\)*&+\(E`),
  shape("closed, statement", String.raw`^[1n]\)*;+\(*(?:E[(a]*[(C1sVfF]|kn\(|nn\()`),
  shape("number, list of a search", String.raw`^1\)*&n\)*o\(`),
  shape("number, condition of sums, comment", String.raw`^[1n]\)*&+[(a]*1(?:[oa]+1){2,12}\)*c`),
  shape("number, condition of many sums", String.raw`^[(a]*1\)*&+[(a]*1(?:[oa]+1){4,16}\)*$`),
  shape("number, nothing", String.raw`^1\)*&+[(a]*1\)*$`),
];

const OWN_QUOTED_SHAPES: readonly SqlShape[] = [
  ...QUOTED_SHAPES.filter(({ name }) => name !== "text, names" && name !== "text, call"),
  shape("text, call", String.raw`^s\)*a?[(a]*(?:F\(|E[(a1nvV]|C[1sn(])|^s\)*a[(a]*f\(`),
  shape("closed, condition", String.raw`^s\)+(?:kn)?(?:k[(a]*[1s]o|&+[(a]*[1sn(fFEC])`),
  shape("text, where", String.raw`^s\)*(?:kn)?k[(a]*[1s]o[(a]*[1s]`),
  shape("text, mode of a search", String.raw`^sonn\)`),
  shape("text, condition in brackets", String.raw`^s\)*&+[(a]*(?:[fF]\(|E|C)`),
  shape("text, statement", String.raw`^s\)*;+\(*(?:E|T|W|kn[kc;(.]|nn\(|nF\(|n\(|f\(|F\()`),
  shape("text, list", String.raw`^s\)*,[(a]*(?:E|C|[1s],)`),
  shape("text, column and comment", String.raw`^s\)*[&o][(a]*[n1s]\)*c$`),
];
