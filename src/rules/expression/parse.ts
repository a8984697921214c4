import type { Connective, Literal, Node, Operator, Value } from "./ast.ts";
import { ExpressionError, type Span } from "./expression-error.ts";
import { lex, type Token } from "./lex.ts";

// waf.md: "Expression language", limits.
const NESTING_MAX = 128;

/** Loosest first (waf.md: not > and > xor > or). */
const CONNECTIVES: readonly { readonly kind: Connective; readonly spellings: readonly string[] }[] = [
  { kind: "or", spellings: ["or", "||"] },
  { kind: "xor", spellings: ["xor", "^^"] },
  { kind: "and", spellings: ["and", "&&"] },
];

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ...(["eq", "ne", "lt", "le", "gt", "ge", "contains", "wildcard", "in"] as const).map((name) => [name, name] as const),
  ["==", "eq"],
  ["!=", "ne"],
  ["<", "lt"],
  ["<=", "le"],
  [">", "gt"],
  [">=", "ge"],
]);

const WORDS = new Set([...OPERATORS.keys(), ...CONNECTIVES.flatMap((row) => row.spellings), "not", "strict", "matches"]);

/** The syntax tree of an expression. Throws ExpressionError. */
export function parseExpression(text: string): Node {
  const parser = new Parser(text);
  const node = parser.connective(0, 0);
  parser.expectEnd();
  return node;
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

  expectEnd(): void {
    const token = this.#peek();
    if (token.kind !== "end") this.#fail(token, "expected and, or, xor or the end of the expression");
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
    return inner;
  }

  #comparison(depth: number): Node {
    const token = this.#peek();
    if (this.#takes(["true", "false"]))
      return { kind: "constant", value: token.kind === "name" && token.text === "true", from: token.from, to: token.to };
    const left = this.#value(depth);
    const operator = this.#operator();
    if (operator === null) return { kind: "truth", value: left, from: left.from, to: left.to };
    const right = operator.name === "in" ? this.#set() : [this.#literal()];
    return {
      kind: "comparison",
      left,
      operator: operator.name,
      operator_span: operator.span,
      right,
      from: left.from,
      to: this.#previous().to,
    };
  }

  #operator(): { readonly name: Operator; readonly span: Span } | null {
    const token = this.#peek();
    if (this.#takes(["strict"])) {
      this.#expect("wildcard");
      return { name: "strict wildcard", span: { from: token.from, to: this.#previous().to } };
    }
    if (this.#textOf(token) === "matches" || this.#textOf(token) === "~")
      this.#fail(token, "this version has no regular expressions; use contains, wildcard, starts_with() or ends_with()");
    const name = OPERATORS.get(this.#textOf(token) ?? "");
    if (name === undefined) return null;
    this.#at++;
    return { name, span: token };
  }

  #value(depth: number): Value {
    const token = this.#peek();
    if (token.kind !== "name" || WORDS.has(token.text)) this.#fail(token, "expected a field, a function or true");
    if (depth > NESTING_MAX) this.#fail(token, `nested deeper than ${NESTING_MAX} levels`);
    this.#at++;
    return this.#takes(["("]) ? this.#call(token, depth) : this.#field(token);
  }

  #field(token: Token & { readonly kind: "name" }): Value {
    const keys: (string | number)[] = [];
    while (this.#takes(["["])) {
      const key = this.#next();
      if (key.kind === "string") keys.push(key.value);
      else if (key.kind === "integer" && key.value >= 0) keys.push(key.value);
      else this.#fail(key, "expected a string or a whole number from 0 in [ ]");
      this.#expect("]");
    }
    return { kind: "field", name: token.text, keys, from: token.from, to: this.#previous().to };
  }

  #call(token: Token & { readonly kind: "name" }, depth: number): Value {
    const list: (Value | Literal)[] = [];
    if (!this.#takes([")"])) {
      do list.push(this.#peek().kind === "name" ? this.#value(depth + 1) : this.#literal());
      while (this.#takes([","]));
      this.#expect(")");
    }
    return { kind: "call", name: token.text, arguments: list, from: token.from, to: this.#previous().to };
  }

  #set(): readonly Literal[] {
    if (this.#textOf(this.#peek()) === "$") this.#fail(this.#peek(), "this version has no lists; use { }");
    this.#expect("{");
    const items: Literal[] = [];
    while (!this.#takes(["}"])) {
      items.push(this.#range());
      // Clients separate items by spaces; some write commas.
      this.#takes([","]);
    }
    if (items.length === 0) this.#fail(this.#previous(), "the set is empty");
    return items;
  }

  #range(): Literal {
    const first = this.#literal();
    if (!this.#takes([".."])) return first;
    const last = this.#literal();
    const span = { from: first.from, to: last.to };
    if (first.kind !== "integer" || last.kind !== "integer") this.#fail(span, "only integers make a range");
    if (last.first < first.first) this.#fail(span, "the range ends before it begins");
    return { kind: "integer", first: first.first, last: last.first, ...span };
  }

  #literal(): Literal {
    const token = this.#next();
    if (token.kind === "string") return token;
    if (token.kind === "address") return token;
    if (token.kind === "integer") return { kind: "integer", first: token.value, last: token.value, from: token.from, to: token.to };
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

const END: Token = { kind: "end", from: 0, to: 0 };
