import { quoted } from "./expression-text.ts";

export type Kind = "text" | "country" | "address" | "number" | "switch";

/** The fields that the builder offers; other expressions are written in the editor. */
export const FIELDS: readonly { readonly name: string; readonly title: string; readonly kind: Kind; readonly example: string }[] = [
  { name: "http.request.uri.path", title: "Path", kind: "text", example: "/admin" },
  { name: "http.host", title: "Host", kind: "text", example: "www.shop.example" },
  { name: "ip.src.country", title: "Country", kind: "country", example: "DE" },
  { name: "ip.src", title: "Address", kind: "address", example: "203.0.113.0/24" },
  { name: "http.request.method", title: "Method", kind: "text", example: "POST" },
  { name: "http.user_agent", title: "User agent", kind: "text", example: "curl" },
  { name: "http.request.uri.query", title: "Query", kind: "text", example: "page=2" },
  { name: "http.request.full_uri", title: "Whole address", kind: "text", example: "https://www.shop.example/*" },
  { name: "http.referer", title: "Referer", kind: "text", example: "https://example.com/" },
  { name: "http.cookie", title: "Cookies", kind: "text", example: "session=" },
  { name: "http.request.uri.path.extension", title: "File extension", kind: "text", example: "php" },
  { name: "http.request.body.size", title: "Size of the body", kind: "number", example: "100000" },
  { name: "http.response.code", title: "Status of the response", kind: "number", example: "404" },
  { name: "ssl", title: "HTTPS", kind: "switch", example: "" },
];

export const OPERATORS: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  text: [
    ["eq", "is"],
    ["ne", "is not"],
    ["contains", "contains"],
    ["not contains", "does not contain"],
    ["starts_with", "begins with"],
    ["ends_with", "ends with"],
    ["wildcard", "fits, with *"],
    ["in", "is one of"],
    ["not in", "is none of"],
  ],
  country: [
    ["eq", "is"],
    ["ne", "is not"],
    ["in", "is one of"],
    ["not in", "is none of"],
  ],
  address: [
    ["in", "is one of"],
    ["not in", "is none of"],
    ["eq", "is"],
    ["ne", "is not"],
  ],
  number: [
    ["eq", "is"],
    ["ne", "is not"],
    ["gt", "is more than"],
    ["lt", "is less than"],
  ],
  switch: [
    ["on", "is used"],
    ["off", "is not used"],
  ],
};

export interface Clause {
  readonly field: string;
  readonly operator: string;
  /** Of `in`, separated by spaces. */
  readonly value: string;
}

export interface Built {
  readonly joint: "and" | "or";
  readonly clauses: readonly Clause[];
}

export const kindOf = (field: string): Kind => FIELDS.find(({ name }) => name === field)?.kind ?? "text";

/** Values of these kinds stand in quotes. */
const QUOTED: ReadonlySet<Kind> = new Set(["text", "country"]);
const FUNCTIONS: ReadonlySet<string> = new Set(["starts_with", "ends_with"]);

/** A header field can be empty, but every text contains an empty one: a rule with a forgotten value would act on every request. */
export const mayBeEmpty = ({ field, operator }: Clause): boolean => kindOf(field) === "text" && ["eq", "ne"].includes(operator);

/** The expression of what was built. */
export const expressionOf = ({ joint, clauses }: Built): string =>
  clauses.length === 0 ? "true" : clauses.map(clauseText).join(` ${joint} `);

function clauseText({ field, operator, value }: Clause): string {
  const kind = kindOf(field);
  const literal = (text: string): string => (QUOTED.has(kind) ? quoted(text) : text);
  if (kind === "switch") return operator === "off" ? `not ${field}` : field;
  if (FUNCTIONS.has(operator)) return `${operator}(${field}, ${quoted(value)})`;
  const isNot = operator.startsWith("not ");
  const name = isNot ? operator.slice("not ".length) : operator;
  const right = name === "in" ? `{${value.split(/\s+/).filter(Boolean).map(literal).join(" ")}}` : literal(value);
  return `${isNot ? "not " : ""}${field} ${name} ${right}`;
}

/** The clauses of an expression; undefined if the builder cannot show it. `true` has none. */
export function builtOf(expression: string): Built | undefined {
  const tokens = tokensOf(expression);
  if (!tokens) return undefined;
  if (tokens.length === 1 && tokens[0]?.text === "true") return { joint: "and", clauses: [] };
  const clauses: Clause[] = [];
  const joints = new Set<string>();
  let at = 0;
  const next = (): Token | undefined => tokens[at++];
  const isNext = (text: string): boolean => tokens[at]?.isQuoted === false && tokens[at]?.text === text;
  while (at < tokens.length) {
    const isNot = isNext("not");
    if (isNot) at++;
    const word = next();
    if (word === undefined || word.isQuoted) return undefined;
    const clause = FUNCTIONS.has(word.text) ? callOf(word.text, next) : comparisonOf(word.text, isNext, next);
    if (!clause || !FIELDS.some(({ name }) => name === clause.field)) return undefined;
    const operator = isNot ? NEGATED[clause.operator] : clause.operator;
    if (operator === undefined || !OPERATORS[kindOf(clause.field)].some(([id]) => id === operator)) return undefined;
    clauses.push({ ...clause, operator });
    if (at === tokens.length) break;
    const joint = next()?.text ?? "";
    if (joint !== "and" && joint !== "or") return undefined;
    joints.add(joint);
    if (at === tokens.length) return undefined;
  }
  return joints.size > 1 || clauses.length === 0 ? undefined : { joint: joints.has("or") ? "or" : "and", clauses };
}

const NEGATED: Readonly<Record<string, string>> = { contains: "not contains", in: "not in", on: "off" };

function callOf(operator: string, next: () => Token | undefined): Clause | undefined {
  const [open, field, comma, value, close] = [next(), next(), next(), next(), next()];
  if (open?.text !== "(" || comma?.text !== "," || close?.text !== ")" || !field || !value?.isQuoted) return undefined;
  return { field: field.text, operator, value: value.text };
}

function comparisonOf(field: string, isNext: (text: string) => boolean, next: () => Token | undefined): Clause | undefined {
  if (kindOf(field) === "switch") return { field, operator: "on", value: "" };
  const operator = next()?.text ?? "";
  if (operator !== "in") {
    const value = next();
    return value === undefined || value.isQuoted !== QUOTED.has(kindOf(field)) ? undefined : { field, operator, value: value.text };
  }
  if (next()?.text !== "{") return undefined;
  const values: string[] = [];
  while (!isNext("}")) {
    const value = next();
    // A value with a space in it would be two in the field of the builder.
    if (value === undefined || /\s/.test(value.text)) return undefined;
    values.push(value.text);
  }
  next();
  return { field, operator, value: values.join(" ") };
}

interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Words, texts and single signs; undefined where a text has no end. */
function tokensOf(expression: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < expression.length;) {
    const char = expression[at] ?? "";
    if (/\s/.test(char)) at++;
    else if (char === '"') {
      let text = "";
      for (at++; expression[at] !== '"'; at++) {
        if (at >= expression.length) return undefined;
        if (expression[at] === "\\") at++;
        text += expression[at] ?? "";
      }
      at++;
      tokens.push({ text, isQuoted: true });
    } else {
      const from = at;
      while (at < expression.length && /[\w.:/$-]/.test(expression[at] ?? "")) at++;
      if (at === from) at++;
      tokens.push({ text: expression.slice(from, at), isQuoted: false });
    }
  }
  return tokens;
}
