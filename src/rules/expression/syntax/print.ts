import type { ArgumentNode, Connective, Index, LiteralNode, Node, Value } from "./ast.ts";
import { writeString } from "./strings.ts";

/**
 * The expression in its canonical form: operators in English, one space between words, as few parentheses as possible,
 * integers in decimal. It parses to the same expression, and printing it again changes nothing.
 */
export function printExpression(node: Node): string {
  return printNode(node, 0);
}

/** Prints an expression that returns a value. */
export const printValue = (value: ArgumentNode): string => printArgument(value, "text");

/** Connectives that bind tighter have the greater level. */
const LEVELS: Readonly<Record<Connective, number>> = { or: 1, xor: 2, and: 3 };
const NOT_LEVEL = 4;

function printNode(node: Node, level: number): string {
  if (node.kind === "constant") return String(node.value);
  if (node.kind === "truth") return printValueNode(node.value);
  if (node.kind === "listed") return `${printValueNode(node.left)} in $${node.list}`;
  if (node.kind === "compared") return `${printValueNode(node.left)} ${node.operator} ${printValueNode(node.right)}`;
  if (node.kind === "comparison") return printComparison(node);
  if (node.kind === "not") return `not ${printNode(node.operand, NOT_LEVEL)}`;
  const own = LEVELS[node.kind];
  // An operand of the same kind was in parentheses: without them it would be part of the row.
  const text = node.operands.map((operand) => printNode(operand, own + 1)).join(` ${node.kind} `);
  return own < level ? `(${text})` : text;
}

type Use = "text" | "regex" | "wildcard";

function printComparison({ left, operator, right }: Node & { readonly kind: "comparison" }): string {
  const use: Use = operator === "matches" ? "regex" : operator.endsWith("wildcard") ? "wildcard" : "text";
  const items = right.map((literal) => printLiteral(literal, use)).join(" ");
  return `${printValueNode(left)} ${operator} ${operator === "in" ? `{${items}}` : items}`;
}

function printValueNode(value: Value): string {
  const indexes = value.indexes.map(printIndex).join("");
  if (value.kind === "field") return `${value.name}${indexes}`;
  const list = value.arguments.map((argument, i) =>
    printArgument(argument, value.name === "wildcard_replace" && i === 1 ? "wildcard" : "text"),
  );
  return `${value.name}(${list.join(", ")})${indexes}`;
}

function printIndex(index: Index): string {
  if (index.kind === "each") return "[*]";
  return index.kind === "key" ? `[${writeString(index.key)}]` : `[${index.place}]`;
}

function printArgument(argument: ArgumentNode, use: Use): string {
  if (argument.kind === "field" || argument.kind === "call") return printValueNode(argument);
  return isLiteral(argument) ? printLiteral(argument, use) : printNode(argument, 0);
}

const isLiteral = (argument: ArgumentNode): argument is LiteralNode =>
  argument.kind === "string" || argument.kind === "integer" || argument.kind === "word" || argument.kind === "range";

function printLiteral(literal: LiteralNode, use: Use): string {
  if (literal.kind === "integer") return String(literal.value);
  if (literal.kind === "word") return literal.text;
  if (literal.kind === "range") return `${printLiteral(literal.first, use)}..${printLiteral(literal.last, use)}`;
  return use === "regex" ? printPattern(literal.value) : writeString(literal.value);
}

/** A raw string, so that the pattern is printed unchanged. */
function printPattern(bytes: string): string {
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  let hashes = "";
  while (text.includes(`"${hashes}`)) hashes += "#";
  return `r${hashes}"${text}"${hashes}`;
}
