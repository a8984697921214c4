import type { ArgumentNode, Connective, Index, LiteralNode, Node, Operator, Relation, Value } from "./ast.ts";
import { ExpressionError, type Span } from "./expression-error.ts";
import { lex, type Token } from "./lex.ts";
import { readString, type StringUse } from "./strings.ts";

// waf.md: "Expression language", limits.
const NESTING_MAX = 128;

/** Loosest first (waf.md: not > and > xor > or). */
export const CONNECTIVES: readonly { readonly kind: Connective; readonly spellings: readonly string[] }[] = [
  { kind: "or", spellings: ["or", "||"] },
  { kind: "xor", spellings: ["xor", "^^"] },
  { kind: "and", spellings: ["and", "&&"] },
];

const RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"] as const satisfies readonly Relation[];
export const isRelation = (operator: string): operator is Relation => (RELATIONS as readonly string[]).includes(operator);

/** Each spelling of an operator, except `strict wildcard`, which has two words. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ...([...RELATIONS, "contains", "matches", "wildcard", "bitwise_and", "in"] as const).map((name) => [name, name] as const),
  ["==", "eq"],
  ["!=", "ne"],
  ["<", "lt"],
  ["<=", "le"],
  [">", "gt"],
  [">=", "ge"],
  ["~", "matches"],
  ["&", "bitwise_and"],
]);

const WORDS = new Set([...OPERATORS.keys(), ...CONNECTIVES.flatMap((row) => row.spellings), "not", "strict"]);

const CONSTANTS: ReadonlySet<string> = new Set(["true", "false"]);

/** Functions whose second argument is a pattern, in which escapes are read differently. */
const PATTERN_FUNCTIONS: ReadonlyMap<string, StringUse> = new Map([["wildcard_replace", "wildcard"]]);

/** The syntax tree of a filter. Throws ExpressionError. */
export function parseExpression(text: string): Node {
  const parser = new Parser(text);
  const node = parser.connective(0, 0);
  parser.expectEnd("expected and, or, xor or the end of the expression");
  return node;
}

/** The syntax tree of an expression that returns a value: a field, a function or a literal. Throws ExpressionError. */
export function parseValue(text: string): ArgumentNode {
  const parser = new Parser(text);
  const value = parser.argument(0, "text");
  parser.expectEnd("expected the end of the expression");
  return value;
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = lex(text);
  }

  connective(level: number, depth: number): Node {
    const row = CONNECTIVES[level];
    if (row === undefined) return this.#unary(depth);
    const first = this.connective(level + 1, depth);
    const operands = [first];
    while (this.#takes(row.spellings)) operands.push(this.connective(level + 1, depth));
    if (operands.length === 1) return first;
    return { kind: row.kind, operands, from: first.from, to: this.#previous().to };
  }

  argument(depth: number, use: StringUse): ArgumentNode {
    const token = this.#peek();
    if (token.kind === "string" || token.kind === "integer" || token.kind === "word") return this.#literal(use);
    const node = this.connective(0, depth);
    return node.kind === "truth" ? node.value : node;
  }

  expectEnd(expected: string): void {
    const token = this.#peek();
    if (token.kind === "end") return;
    const small = this.#textOf(token)?.toLowerCase() ?? "";
    this.#fail(token, WORDS.has(small) && small !== this.#textOf(token) ? `operators must be in lower case: ${small}` : expected);
  }

  #unary(depth: number): Node {
    const token = this.#peek();
    if (depth > NESTING_MAX) this.#fail(token, `nested deeper than ${NESTING_MAX} levels`);
    if (this.#takes(["not", "!"])) {
      const operand = this.#unary(depth + 1);
      return { kind: "not", operand, from: token.from, to: operand.to };
    }
    if (!this.#takes(["("])) return this.#comparison(depth);
    const inner = this.connective(0, depth + 1);
    this.#expect(")");
    return { ...inner, from: token.from, to: this.#previous().to };
  }

  #comparison(depth: number): Node {
    const token = this.#peek();
    if (this.#takes([...CONSTANTS]))
      return { kind: "constant", value: token.kind === "name" && token.text === "true", from: token.from, to: token.to };
    const left = this.#value(depth);
    const operator = this.#operator();
    if (operator === null) return { kind: "truth", value: left, from: left.from, to: left.to };
    if (operator.name === "in" && this.#textOf(this.#peek()) === "$") return this.#listed(left, operator.span);
    if (isRelation(operator.name) && this.#isValueNext()) {
      const right = this.#value(depth);
      return { kind: "compared", left, operator: operator.name, operator_span: operator.span, right, from: left.from, to: right.to };
    }
    const right = operator.name === "in" ? this.#set() : [this.#literal(OPERATOR_USES[operator.name] ?? "text")];
    const end = this.#previous().to;
    return { kind: "comparison", left, operator: operator.name, operator_span: operator.span, right, from: left.from, to: end };
  }

  #operator(): { readonly name: Operator; readonly span: Span } | null {
    const token = this.#peek();
    if (this.#takes(["strict"])) {
      this.#expect("wildcard");
      return { name: "strict wildcard", span: { from: token.from, to: this.#previous().to } };
    }
    const name = OPERATORS.get(this.#textOf(token) ?? "");
    if (name === undefined) return null;
    this.#at++;
    return { name, span: token };
  }

  /** Whether the next token is a name that is neither a word of the language nor bytes. */
  #isValueNext(): boolean {
    const token = this.#peek();
    return token.kind === "name" && !WORDS.has(token.text) && !CONSTANTS.has(token.text) && !BYTES.test(token.text);
  }

  #value(depth: number): Value {
    const token = this.#peek();
    if (token.kind !== "name" || WORDS.has(token.text)) this.#fail(token, "expected a field, a function, not, ( or true");
    if (depth > NESTING_MAX) this.#fail(token, `nested deeper than ${NESTING_MAX} levels`);
    this.#at++;
    if (!this.#takes(["("])) {
      const indexes = this.#indexes();
      return { kind: "field", name: token.text, indexes, from: token.from, to: this.#previous().to };
    }
    const list = this.#arguments(token.text, depth);
    const indexes = this.#indexes();
    return {
      kind: "call",
      name: token.text,
      name_span: { from: token.from, to: token.to },
      arguments: list,
      indexes,
      from: token.from,
      to: this.#previous().to,
    };
  }

  #arguments(name: string, depth: number): readonly ArgumentNode[] {
    const list: ArgumentNode[] = [];
    if (this.#takes([")"])) return list;
    do list.push(this.argument(depth + 1, list.length === 1 ? (PATTERN_FUNCTIONS.get(name) ?? "text") : "text"));
    while (this.#takes([","]));
    this.#expect(")");
    return list;
  }

  #indexes(): readonly Index[] {
    const indexes: Index[] = [];
    while (this.#takes(["["])) {
      const from = this.#previous().from;
      const key = this.#next();
      this.#expect("]");
      const span = { from, to: this.#previous().to };
      if (key.kind === "string") indexes.push({ kind: "key", key: readString(this.#text, key, "text"), ...span });
      else if (key.kind === "integer" && key.value >= 0n && key.value <= PLACE_MAX)
        indexes.push({ kind: "place", place: Number(key.value), ...span });
      else if (this.#textOf(key) === "*") indexes.push({ kind: "each", ...span });
      else this.#fail(key, "expected a string, a whole number from 0 or * in [ ]");
    }
    return indexes;
  }

  #listed(left: Value, operator_span: Span): Node {
    const dollar = this.#next();
    const name = this.#next();
    const list_span = { from: dollar.from, to: name.to };
    if (name.kind !== "name" || name.from !== dollar.to || !LIST_NAME.test(name.text))
      return this.#fail(list_span, "expected the name of a list after $, in lowercase letters, digits and _");
    return { kind: "listed", left, operator_span, list: name.text, list_span, from: left.from, to: name.to };
  }

  #set(): readonly LiteralNode[] {
    this.#expect("{");
    const items: LiteralNode[] = [];
    while (!this.#takes(["}"])) {
      items.push(this.#range());
      // Clients separate items by spaces; some write commas.
      this.#takes([","]);
    }
    if (items.length === 0) this.#fail(this.#previous(), "the set is empty");
    return items;
  }

  #range(): LiteralNode {
    const first = this.#literal("text");
    if (!this.#takes([".."])) return first;
    const last = this.#literal("text");
    const span = { from: first.from, to: last.to };
    if (first.kind === "string" || last.kind !== first.kind) this.#fail(span, "a range goes from one integer or address to another");
    return { kind: "range", first, last, ...span };
  }

  #literal(use: StringUse): LiteralNode {
    const token = this.#next();
    if (token.kind === "string") return { kind: "string", value: readString(this.#text, token, use), from: token.from, to: token.to };
    if (token.kind === "integer") return { kind: "integer", value: token.value, from: token.from, to: token.to };
    // Bytes that start with letters and are separated by dots look like a name.
    if (token.kind === "word" || (token.kind === "name" && BYTES.test(token.text)))
      return { kind: "word", text: token.text, from: token.from, to: token.to };
    const text = this.#textOf(token);
    if (CONSTANTS.has(text ?? "")) this.#fail(token, "true and false cannot be compared; use the field alone or with not");
    if (text === "$") this.#fail(token, "a list is allowed only after in");
    if (token.kind === "name" && !WORDS.has(token.text))
      this.#fail(token, "a field or function is allowed only after eq, ne, lt, le, gt and ge");
    return this.#fail(token, "expected a string, an integer or an address");
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== "end") this.#at++;
    return token;
  }

  #previous(): Token {
    return this.#tokens[this.#at - 1] ?? END;
  }

  #textOf(token: Token): string | undefined {
    return token.kind === "name" || token.kind === "symbol" ? token.text : undefined;
  }

  #takes(spellings: readonly string[]): boolean {
    const found = spellings.includes(this.#textOf(this.#peek()) ?? "");
    if (found) this.#at++;
    return found;
  }

  #expect(spelling: string): void {
    if (!this.#takes([spelling])) this.#fail(this.#peek(), `expected ${spelling}`);
  }

  #fail(span: Span, reason: string): never {
    throw new ExpressionError(this.#text, span, reason);
  }
}

const OPERATOR_USES: Readonly<Partial<Record<Operator, StringUse>>> = {
  matches: "regex",
  wildcard: "wildcard",
  "strict wildcard": "wildcard",
};

const PLACE_MAX = 0xffff_ffffn;
const LIST_NAME = /^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/;
export const BYTES = /^[0-9A-Fa-f]{2}(?:[:.-][0-9A-Fa-f]{2})+$/;
const END: Token = { kind: "end", from: 0, to: 0 };
