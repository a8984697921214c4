import { type Phase, phaseNamed } from "#rules/phases.ts";
import { isAvailable } from "./check-call.ts";
import { fieldExists, fieldNamed, FIELDS } from "#rules/expression/fields/fields.ts";
import { functionNamed, FUNCTIONS, signatureOf } from "#rules/expression/functions/functions.ts";
import { lex, type Token } from "#rules/expression/syntax/lex.ts";
import { typeName, type ValueType } from "#rules/expression/values/value-type.ts";

/** Suggestions that replace the characters from `from` to `to`. */
export interface Completions {
  readonly from: number;
  readonly to: number;
  readonly items: readonly Completion[];
}

export interface Completion {
  /** The inserted text. */
  readonly label: string;
  readonly kind: "field" | "function" | "operator" | "connective" | "keyword" | "list" | "index";
  /** A type or a signature. */
  readonly detail: string;
  readonly summary: string;
}

export interface CompletionOptions {
  /** `value` for expressions that return a value. */
  readonly use?: "filter" | "value";
  /** Names of lists for `in $`. */
  readonly lists?: readonly string[];
}

/** Suggestions at a place of an unfinished expression, whatever follows it. Empty inside strings. Never throws. */
export function completions(text: string, offset: number, phase: string, options: CompletionOptions = {}): Completions {
  const known = phaseNamed(phase);
  const to = Math.max(0, Math.min(offset, text.length));
  const from = wordStart(text, to);
  if (known === undefined) return { from, to, items: [] };
  const state = stateAfter(text.slice(0, from));
  const typed = text.slice(from, to);
  const items = state === null ? [] : itemsFor(state, known, options);
  return { from, to, items: items.filter((item) => item.label.startsWith(typed)) };
}

function wordStart(text: string, end: number): number {
  let at = end;
  while (at > 0 && /[A-Za-z0-9_.$]/.test(text[at - 1] ?? "")) at--;
  return at;
}

/**
 * The next element: a value, an operator or the rest after a value of a type, an operator's right side, a connective, or
 * an index.
 */
type State =
  | { readonly next: "operand" }
  | { readonly next: "end" }
  | { readonly next: "operator"; readonly type: ValueType }
  | { readonly next: "index"; readonly type: ValueType }
  | { readonly next: "literal"; readonly operator: string; readonly type: ValueType | null };

/** Null if nothing can be suggested: in a string, or after an invalid expression. */
function stateAfter(text: string): State | null {
  let tokens: readonly Token[];
  try {
    tokens = lex(text);
  } catch {
    return null;
  }
  const calls: (ValueType | null)[] = [];
  let state: State | null = { next: "operand" };
  for (const [i, token] of tokens.entries()) {
    if (token.kind === "end") break;
    state = step(state, token, tokens[i - 1], calls);
  }
  return state;
}

const CONNECTIVES = ["and", "or", "xor"];
const AGAIN = new Set(["and", "or", "xor", "not", "&&", "||", "^^", "!", "(", ","]);

function step(state: State | null, token: Token, previous: Token | undefined, calls: (ValueType | null)[]): State | null {
  if (token.kind === "string" || token.kind === "integer" || token.kind === "word")
    return state?.next === "index" ? state : { next: "end" };
  if (token.kind === "end") return state;
  if (token.text === "(") calls.push(previous?.kind === "name" ? returnType(previous.text) : null);
  if (AGAIN.has(token.text)) return { next: "operand" };
  if (token.text === "[" && state?.next === "operator") return { next: "index", type: state.type };
  if (token.text === "]" && state?.next === "index")
    return state.type.kind === "array" || state.type.kind === "map" ? { next: "operator", type: state.type.of } : null;
  if (token.text === "*") return state;
  if (token.text === ")") return closed(calls.pop() ?? null);
  if (token.text === "}" || token.text === "true" || token.text === "false") return { next: "end" };
  const type = fieldNamed(token.text)?.type;
  if (state?.next === "literal" && type !== undefined) return { next: "end" };
  if (state?.next === "operator") return { next: "literal", operator: token.text, type: state.type };
  if (state?.next === "literal") return { ...state, operator: token.text };
  return type === undefined ? state : { next: "operator", type };
}

const closed = (type: ValueType | null): State => (type === null ? { next: "end" } : { next: "operator", type });

/** The return type of a function, if it does not depend on the arguments; null for parentheses. */
function returnType(name: string): ValueType | null {
  const returns = functionNamed(name)?.returns;
  return returns === undefined || typeof returns === "function" ? null : returns;
}

export const OPERATORS: readonly { readonly label: string; readonly types: readonly string[]; readonly summary: string }[] = [
  { label: "eq", types: ["string", "integer", "ip"], summary: "equal" },
  { label: "ne", types: ["string", "integer", "ip"], summary: "not equal" },
  { label: "lt", types: ["string", "integer"], summary: "less than" },
  { label: "le", types: ["string", "integer"], summary: "less than or equal" },
  { label: "gt", types: ["string", "integer"], summary: "greater than" },
  { label: "ge", types: ["string", "integer"], summary: "greater than or equal" },
  { label: "contains", types: ["string"], summary: "has the text in it" },
  { label: "matches", types: ["string"], summary: "matches a regular expression" },
  { label: "wildcard", types: ["string"], summary: "matches a pattern with *, ignoring case" },
  { label: "strict wildcard", types: ["string"], summary: "matches a pattern with *, respecting case" },
  { label: "bitwise_and", types: ["integer"], summary: "has at least one of these bits set" },
  { label: "in", types: ["string", "integer", "ip"], summary: "is in a set or list" },
];

/** Operators whose right side may also be a field. */
const COMPARING: ReadonlySet<string> = new Set(["eq", "ne", "lt", "le", "gt", "ge", "==", "!=", "<", "<=", ">", ">="]);

const connective = (label: string): Completion => ({ label, kind: "connective", detail: "", summary: "joins two conditions" });

function itemsFor(state: State, phase: Phase, options: CompletionOptions): readonly Completion[] {
  if (state.next === "operand") return operands(phase, options.use ?? "filter");
  if (state.next === "end") return CONNECTIVES.map(connective);
  if (state.next === "literal") {
    if (COMPARING.has(state.operator))
      return operands(phase, options.use ?? "filter").filter(({ detail }) => detail === (state.type && typeName(state.type)));
    if (state.operator !== "in") return [];
    return (options.lists ?? []).map((name) => ({ label: `$${name}`, kind: "list", detail: "list", summary: "" }));
  }
  if (state.next === "index") {
    const every: Completion = { label: "*", kind: "index", detail: "", summary: "every item, for any() and all()" };
    return state.type.kind === "array" || state.type.kind === "map" ? [every] : [];
  }
  const { kind } = state.type;
  if (kind === "boolean") return CONNECTIVES.map(connective);
  return OPERATORS.filter((row) => row.types.includes(kind)).map(({ label, types, summary }) => ({
    label,
    kind: "operator",
    detail: types.join(", "),
    summary,
  }));
}

function operands(phase: Phase, use: "filter" | "value"): readonly Completion[] {
  const fields = FIELDS.filter((field) => fieldExists(field, phase, false)).map((field): Completion => ({
    label: field.name,
    kind: "field",
    detail: typeName(field.type),
    summary: field.summary,
  }));
  const functions = FUNCTIONS.filter((called) => isAvailable(use === "filter" ? called.filters : called.values, phase.name)).map(
    (called): Completion => ({ label: called.name, kind: "function", detail: signatureOf(called), summary: called.summary }),
  );
  const keywords = ["not", "true", "false"].map((label): Completion => ({ label, kind: "keyword", detail: "", summary: "" }));
  return [...fields, ...functions, ...(use === "filter" ? keywords : [])];
}
