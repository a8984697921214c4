import type { Predicate } from "../types.ts";
import type { Typed } from "./typed.ts";

/** One closure for a checked expression. Depth of calls is the expression's nesting, which the parser bounds. */
export function compileNode(node: Typed): Predicate {
  if (node.kind === "constant") return node.value ? always : never;
  if (node.kind === "test") return node.applies;
  if (node.kind === "not") {
    const operand = compileNode(node.operand);
    return (request, response) => !operand(request, response);
  }
  const operands = node.operands.map(compileNode);
  if (node.kind === "xor") return (request, response) => operands.reduce((odd, operand) => odd !== operand(request, response), false);
  const decisive = node.kind === "or";
  return (request, response) => {
    for (const operand of operands) if (operand(request, response) === decisive) return decisive;
    return !decisive;
  };
}

const always: Predicate = () => true;
const never: Predicate = () => false;
