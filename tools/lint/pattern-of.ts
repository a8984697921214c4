import { asNode, type Node, nameOf } from "./rule.ts";

/** A pattern as written in a file. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** Constants at the top of the file, by name. */
export type Constants = ReadonlyMap<string, Node>;

/**
 * The pattern of `/…/g`, or of `RegExp("…", "g")` with constant arguments; "dynamic" if they are not constant,
 * undefined for any other node.
 */
export function patternOf(node: Node, constants: Constants): Pattern | "dynamic" | undefined {
  if (node.type === "Literal") {
    const regex = node["regex"] as { readonly pattern: string; readonly flags: string } | undefined | null;
    return regex ? { source: regex.pattern, flags: regex.flags } : undefined;
  }
  if (nameOf(node["callee"]) !== "RegExp" || asNode(node["callee"])?.type !== "Identifier") return undefined;
  const [source, flags] = node["arguments"] as readonly (Node | undefined)[];
  const [text, letters] = [textOf(source, constants, 0), flags === undefined ? "" : textOf(flags, constants, 0)];
  return text === undefined || letters === undefined ? "dynamic" : { source: text, flags: letters };
}

const DEPTH_MAX = 16;

/** The value of a constant text: a literal, a template of constants, or a constant that contains one. */
function textOf(node: Node | undefined, constants: Constants, depth: number): string | undefined {
  if (node === undefined || depth > DEPTH_MAX) return undefined;
  const inner = (value: unknown): string | undefined => textOf(asNode(value), constants, depth + 1);
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type === "Identifier") return inner(constants.get(node["name"] as string));
  if (node.type === "TemplateLiteral") return template(node, "cooked", inner);
  if (node.type === "BinaryExpression" && node["operator"] === "+") {
    const [left, right] = [inner(node["left"]), inner(node["right"])];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  const tag = asNode(node["tag"]);
  const isRaw = tag !== undefined && nameOf(tag["object"]) === "String" && nameOf(tag["property"]) === "raw";
  const quasi = asNode(node["quasi"]);
  return isRaw && quasi !== undefined ? template(quasi, "raw", inner) : undefined;
}

function template(node: Node, kind: "cooked" | "raw", inner: (value: unknown) => string | undefined): string | undefined {
  const values = (node["expressions"] as readonly unknown[]).map(inner);
  if (values.includes(undefined)) return undefined;
  const pieces = node["quasis"] as readonly { readonly value: { readonly cooked: string; readonly raw: string } }[];
  return pieces.map(({ value }, i) => value[kind] + (values[i] ?? "")).join("");
}

/** The constants that a file declares outside of functions. */
export function constantsOf(program: Node): Constants {
  const constants = new Map<string, Node>();
  for (const statement of program["body"] as readonly Node[]) {
    const declaration = statement.type === "ExportNamedDeclaration" ? asNode(statement["declaration"]) : statement;
    if (declaration?.type !== "VariableDeclaration" || declaration["kind"] !== "const") continue;
    for (const declarator of declaration["declarations"] as readonly Node[]) {
      const [name, value] = [nameOf(declarator["id"]), asNode(declarator["init"])];
      if (name !== undefined && value !== undefined) constants.set(name, value);
    }
  }
  return constants;
}
