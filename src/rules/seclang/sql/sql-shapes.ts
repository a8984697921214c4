/** A shape of statements with injected parts, as a pattern over kinds of tokens (sql-words.ts). */
export interface SqlShape {
  readonly name: string;
  readonly pattern: RegExp;
}

// The patterns see at most 48 characters, so that their time is bounded.
export const shape = (name: string, source: string): SqlShape => ({ name, pattern: new RegExp(source) });

/** A token sequence in the position of a value: brackets and signs, then a token that a sentence does not have there. */
const VALUE = String.raw`[(a]*(?:[s1vV](?![n1s])|[fF]\(|C|\(?E|V)`;
/** A name counts if the following tokens make it a column's name. */
const COLUMN = String.raw`[(a]*n(?:[oac;.(&]|\))`;

/** A query that is not a sentence. */
const QUERY = String.raw`E[(a]*(?:[s1vVa]|[fF]\(|n(?:[,.k(;c]|$))`;

/** Shapes of texts that start inside a quoted text, which ends with the first token. */
export const QUOTED_SHAPES: readonly SqlShape[] = [
  shape("text, condition", String.raw`^s\)*&+(?:${VALUE}|${COLUMN})`),
  shape("text, comparison", String.raw`^s\)*o(?:${VALUE}|[(a]*n[c;&)])`),
  shape("text, call", String.raw`^s\)*a?[(a]*(?:F\(|E|C)|^s\)*a[(a]*f\(`),
  shape("text, arithmetic", String.raw`^s\)*a+\(*[s1vV]\)*(?:$|[aoc&])`),
  shape("text, names", String.raw`^s\)*[ao]n[ao]`),
  shape("text, union", String.raw`^s\)*U\(*E`),
  shape("text, statement", String.raw`^s[)1n]*;+\(*(?:${QUERY}|T|W|kn(?:\.n)?k|[fF]\()`),
  shape("text, clause", String.raw`^s\)*B(?:${VALUE}|[(a]*n)`),
  shape("text, list", String.raw`^s\)*,[(a]*(?:E|[fF]\()`),
  shape("text, wait", String.raw`^s\)*;*W`),
];

/** Forms of any text. */
export const PLAIN_SHAPES: readonly SqlShape[] = [
  shape("constants compared", String.raw`^.{0,10}&[(a]*(?:1\)*o[(a]*[1s]|s\)*o[(a]*[1s])`),
  shape("number, condition", String.raw`^[(a]*1\)*&+[(a]*(?:[1s]\)*[co]|[fF]\(|\(E|[nv]\)*o|C)`),
  shape("union", String.raw`^1U\(*E|^.{0,5}U\(*E[(a]*(?:[s1vV]|[fF]\(|n[,.ok(c)a]|a|E|k)`),
  shape("statement behind a value", String.raw`^[1snv()]{0,5};+\(*(?:T|W|E[(a]*(?:[s1vV]|[fF]\(|n[,.k]|a))`),
  shape("query", String.raw`^\(*E(?:a|[fF]\(|[1svV]|n[,.(]).{0,12}k\(*n`),
  shape("definition", String.raw`^Tn(?:[;c]|\(.*\)[;c]?$)|^T(?:n\.)*n\(.{1,30}k\(`),
  shape("call", String.raw`(?:^|[s1)&oa(,;])F\((?!n\))`),
  shape("number, clause", String.raw`^[(a]*[1s]\)*B\(*(?:1|[fF]\(|E|s)`),
  shape("query inside", String.raw`^.{0,10}\(E[(a]*(?:a|[fF]\(|[1sV]|n[,.(]|nkn\))`),
  shape("variable of the server", String.raw`^[(a]*V$|[E&o,(a]V`),
  shape("wait", String.raw`(?:^|[s1);])W(?:s|n?$)`),
];
