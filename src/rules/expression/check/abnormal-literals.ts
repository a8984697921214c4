import { ABNORMAL_CHARACTER, normalizedPath, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import type { ArgumentNode, Node, Value } from "#rules/expression/syntax/ast.ts";
import { ExpressionError } from "#rules/expression/syntax/expression-error.ts";
import { parseExpression } from "#rules/expression/syntax/parse.ts";

/** A literal that no normalized path has, in a comparison with one. */
export interface AbnormalLiteral {
  readonly field: string;
  readonly literal: string;
  /** The text that paths have in its place. */
  readonly normal: string;
}

type Type = UrlNormalization["type"];

/**
 * The literals of an expression that no path matches because paths are normalized. Only comparisons of a field itself count, and regular
 * expressions do not; nothing that some path matches is among them. Empty if the expression cannot be read.
 */
export function abnormalLiterals(expression: string, { scope, type }: UrlNormalization): readonly AbnormalLiteral[] {
  if (scope === "none" || !expression.includes("http.request.") || isPlain(expression, type)) return [];
  const found: AbnormalLiteral[] = [];
  try {
    eachComparison(parseExpression(expression), (field, kind, literal) => {
      for (const part of partsOf(field, kind, literal)) {
        const normal = normalOf(part, type);
        if (normal !== null && normal !== part.text) found.push({ field, literal: part.text, normal });
      }
    });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
  }
  return found;
}

/**
 * Whether paths can have each text of the expression, as it is written: nearly all are so, and a ruleset with thousands of them is read
 * at each change. Escapes, raw strings with #, queries and percent signs need the parser.
 */
const isPlain = (expression: string, type: Type): boolean =>
  !/[\\%?#]/.test(expression) && (expression.match(/"[^"]*"/g) ?? []).every((text) => isPossible(text.slice(1, -1), true, type));

type Kind = "eq" | "contains" | "starts_with" | "ends_with" | "wildcard" | "strict wildcard";

type Visit = (field: string, kind: Kind, literal: string) => void;

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...(["eq", "contains", "starts_with", "ends_with", "wildcard", "strict wildcard"] as const).map((kind) => [kind, kind] as const),
  ["in", "eq"],
]);

function eachComparison(node: Node | ArgumentNode, visit: Visit): void {
  switch (node.kind) {
    case "not":
      return eachComparison(node.operand, visit);
    case "and":
    case "or":
    case "xor":
      return node.operands.forEach((operand) => eachComparison(operand, visit));
    case "comparison": {
      const kind = KINDS.get(node.operator);
      if (kind !== undefined) visitEach(node.left, kind, node.right, visit);
      return eachComparison(node.left, visit);
    }
    case "truth":
      return eachComparison(node.value, visit);
    case "call": {
      const kind = KINDS.get(node.name);
      const [value, ...literals] = node.arguments;
      if (kind !== undefined && value?.kind === "field") visitEach(value, kind, literals, visit);
      return node.arguments.forEach((argument) => eachComparison(argument, visit));
    }
    default:
  }
}

function visitEach(value: Value, kind: Kind, literals: readonly ArgumentNode[], visit: Visit): void {
  if (value.kind !== "field") return;
  for (const literal of literals) if (literal.kind === "string") visit(value.name, kind, literal.value);
}

/** Text that a path must have. */
interface Part {
  readonly text: string;
  /** Where in the path it stands: `path` is all of it. */
  readonly at: "path" | "start" | "end" | "anywhere";
  readonly ignoresCase: boolean;
}

const PATH = "http.request.uri.path";

/** Text behind a question mark is not normalized, and neither is a host. */
function partsOf(field: string, kind: Kind, literal: string): readonly Part[] {
  const ignoresCase = kind === "wildcard";
  if (field !== PATH) {
    const base =
      field === "http.request.uri" ? "" : field === "http.request.full_uri" ? /^https?:\/\/[^/?*\\]*/.exec(literal)?.[0] : undefined;
    if (base === undefined || kind === "contains" || kind === "ends_with") return [];
    const rest = literal.slice(base.length);
    if (kind === "eq") return [{ text: rest.split("?", 1)[0]!, at: "path", ignoresCase }];
    const end = rest.search(kind === "starts_with" ? /\?/ : /[?*\\]/);
    return [{ text: end < 0 ? rest : rest.slice(0, end), at: rest[end] === "?" ? "path" : "start", ignoresCase }];
  }
  if (kind === "eq") return [{ text: literal, at: "path", ignoresCase }];
  if (kind === "starts_with" || kind === "contains" || kind === "ends_with")
    return [{ text: literal, at: ({ starts_with: "start", contains: "anywhere", ends_with: "end" } as const)[kind], ignoresCase }];
  // The texts between stars; a pattern with escaped characters is not looked at.
  if (literal.includes("\\")) return [];
  const texts = literal.split("*");
  if (texts.length === 1) return [{ text: literal, at: "path", ignoresCase }];
  return texts.map((text, i) => ({ text, at: i === 0 ? "start" : i === texts.length - 1 ? "end" : "anywhere", ignoresCase }));
}

/** Null if a normalized path can have the part. */
function normalOf({ text, at, ignoresCase }: Part, type: Type): string | null {
  const known = ignoresCase ? text.replace(/%[0-9a-f]{1,2}/gi, (escape) => escape.toUpperCase()) : text;
  if (isPossible(known, at === "path" || at === "end", type)) return null;
  const isAbsolute = known.startsWith("/") || (type === "cloudflare" && known.startsWith("\\"));
  const path = normalizedPath(isAbsolute ? known.replace(/^\\/, "/") : `/${known}`, type).replace(/%[a-f]$/, (half) => half.toUpperCase());
  return isAbsolute || path === "/" ? path : path.slice(1);
}

const isPossible = (text: string, ends: boolean, type: Type): boolean =>
  !ABNORMAL_CHARACTER.test(text) &&
  !(type === "cloudflare" && text.includes("//")) &&
  !/\/\.{1,2}\//.test(text) &&
  !(ends && /\/\.{1,2}$/.test(text)) &&
  !/%[a-f]$/.test(text) &&
  (text.match(/%[0-9A-Fa-f]{2}/g) ?? []).every((escape) => normalizedPath(`/${escape}`, type) === `/${escape}`);
