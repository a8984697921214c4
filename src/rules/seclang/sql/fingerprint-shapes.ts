import { PLAIN_SHAPES, QUOTED_SHAPES, shape, type SqlShape } from "./sql-shapes.ts";

const without = (shapes: readonly SqlShape[], ...names: readonly string[]): readonly SqlShape[] =>
  shapes.filter(({ name }) => !names.includes(name));

/** A value; plain names are none in libinjection either. */
const VALUE = String.raw`[(a]*(?:[s1vV](?![n1s])|[fF]\((?!c)|C|\(?E|V)`;
/** A column, also of a table, or a function of a package; calls of other functions that SQL does not have are none. */
const COLUMN = String.raw`[(a]*n(?:(?:\.n)*(?:[oac;&]|\))|\.n\(|\(\)o)`;

/** Forms of any text, as close to libinjection's as patterns over tokens are: whole statements are none. */
export const PLAIN_FINGERPRINTS: readonly SqlShape[] = [
  ...without(PLAIN_SHAPES, "definition", "query", "call", "query inside", "statement behind a value", "number, condition"),
  // Marks that SQL does not have are those of templates around a whole statement.
  shape("query", String.raw`^(?!.{0,47}x)\(*E(?:a|[fF]\(|[1svV]|n[,.(]).{0,12}k\(*n`),
  shape("call", String.raw`(?:^|[s1)&oa(,;])F\((?![nUEB]\))`),
  shape("number, command", String.raw`^1\)*&+n(?:a+[nk1]){1,12}[;&c]`),
  shape("number, condition", String.raw`^[(a]*1\)*&+[(a]*(?:[1s]\)*[co]|f\(|\(E|[nv]\)*o|C)`),
  shape("number, number", String.raw`^[(a]*1(?:a1)+\)*&+1$`),
  shape("number, condition of sums, comment", String.raw`^[(a]*1\)*&+[(a]*1(?:[oa]+1){2,12}\)*c`),
  shape("number, call", String.raw`^[(a]*1\)*[ao&](?:n\.n|f)\(`),
  shape("query inside", String.raw`^(?!k).{0,10}\(E[(a]*(?:a|[fF]\(|[1sVC]|n[,.(]|nkn\))`),
  shape("case", String.raw`^[1sn)ao]*\([(a]*C[(a]*[1s]o`),
  shape("statement behind a value", String.raw`^[(a]*[1snv()]{0,5};+\(*(?:T(?![a1])|W|E[(a]*(?:[s1vV]|[fF]\(|n[,.k]|a))`),
];

/** Shapes of texts that start inside a quoted text. */
export const QUOTED_FINGERPRINTS: readonly SqlShape[] = [
  ...without(QUOTED_SHAPES, "text, condition", "text, call", "text, names"),
  // `{d'2020-01-01'}` is a date.
  shape("text, condition", String.raw`^s\)*&+(?:${VALUE}|${COLUMN}|[(a]*xns)`),
  shape("text, call", String.raw`^s\)*a?[(a]*(?:F\(|E(?!ns$)[(a1nvVfF]|C)|^s\)*a[(a]*f\(`),
  shape("text, procedure", String.raw`^s\)*(?:B\(\)|;+nn(?:\.n)+\()`),
  shape("text, unknown call", String.raw`^s[ao]n\(1?\)[ao]s`),
  shape("text, variables", String.raw`^s\)*kv[,c;]`),
];

/** Names and operators stand between the quote and the next one; a path looks similar and is excluded. */
export const NAMES: SqlShape = shape("text, names", String.raw`^s\)*[ao]n[ao]`);
