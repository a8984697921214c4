import { refuse, slice, type Text } from "./source-error.ts";

/** `!@rx pattern`. Without `@` the whole text is a pattern, as in ModSecurity. */
export interface OperatorRef {
  readonly name: OperatorName;
  readonly isNegated: boolean;
  readonly argument: Text;
}

/** Whether an operator has an argument. */
const OPERATORS = {
  beginsWith: "required",
  contains: "required",
  containsWord: "required",
  detectSQLi: "none",
  detectXSS: "none",
  endsWith: "required",
  eq: "required",
  ge: "required",
  geoLookup: "none",
  gt: "required",
  ipMatch: "required",
  ipMatchF: "required",
  ipMatchFromFile: "required",
  le: "required",
  lt: "required",
  noMatch: "none",
  pm: "required",
  pmf: "required",
  pmFromFile: "required",
  rbl: "required",
  rx: "required",
  rxGlobal: "required",
  strmatch: "required",
  streq: "required",
  unconditionalMatch: "none",
  validateByteRange: "required",
  validateUrlEncoding: "none",
  validateUtf8Encoding: "none",
  within: "required",
} as const;

export type OperatorName = keyof typeof OPERATORS;

const NAMES = new Map<string, OperatorName>((Object.keys(OPERATORS) as OperatorName[]).map((name) => [name.toLowerCase(), name]));

export function readOperator(given: Text): OperatorRef {
  let source = withoutLead(given);
  const isNegated = source.text.startsWith("!");
  if (isNegated) source = withoutLead(slice(source, 1));
  if (!source.text.startsWith("@")) return { name: "rx", isNegated, argument: source };
  const end = source.text.search(/[ \t]/);
  const word = source.text.slice(1, end === -1 ? undefined : end);
  const name = NAMES.get(word.toLowerCase());
  if (word.toLowerCase() === "inspectfile")
    return refuse(source, "@inspectFile runs a program or a Lua script, which Selvedge does not do; remove the rule or its plugin");
  if (name === undefined)
    return refuse(source, `unknown operator @${word}; known are ${[...NAMES.values()].map((known) => `@${known}`).join(", ")}`);
  const argument = withoutLead(slice(source, end === -1 ? source.text.length : end));
  if (argument.text === "" && OPERATORS[name] === "required") return refuse(source, `@${name} needs an argument`);
  return { name, isNegated, argument };
}

/** Spaces at the end belong to the argument. */
const withoutLead = (source: Text): Text => slice(source, source.text.length - source.text.trimStart().length);
