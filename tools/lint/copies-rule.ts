import { asNode, isTestFile, type Node, nameOf, type Rule } from "./rule.ts";

const ADVICE =
  "copies all that is there for each item that comes: push to it (kernel/lists.ts, wire/http/pending-bytes.ts), or mark it // few: why it stays short";

/**
 * Flags code that copies a whole set to add one item: `x = [...x, y]`, `x = Buffer.concat([x, y])`, `x = new Map(x)`,
 * `m.set(k, [...m.get(k), y])`.
 */
export const copies: Rule = {
  create(context) {
    if (!/\/src\//.test(context.filename) || isTestFile(context.filename) || /\/test-[^/]*\.ts$/.test(context.filename)) return {};
    const { text } = context.sourceCode;
    const report = (node: Node): void => {
      if (!isMarked(text, node["start"] as number)) context.report({ node, message: ADVICE });
    };
    const textOf = (node: Node | undefined): string =>
      node === undefined ? "" : text.slice(node["start"] as number, node["end"] as number);
    return {
      AssignmentExpression: (node: Node) => {
        const target = textOf(asNode(node["left"]));
        const value = asNode(node["right"]);
        if (value !== undefined && copiedIn(value).some((copied) => textOf(copied) === target)) report(node);
      },
      CallExpression: (node: Node) => {
        const callee = asNode(node["callee"]);
        const value = asNode((node["arguments"] as readonly unknown[])[1]);
        if (callee?.type !== "MemberExpression" || nameOf(callee["property"]) !== "set" || value === undefined) return;
        const reads = `${textOf(asNode(callee["object"]))}.get(`;
        if (copiedIn(value).some((copied) => textOf(copied).replace(/^\(/, "").startsWith(reads))) report(node);
      },
    };
  },
};

/** The values that a new array, buffer, map, set or object copies completely. */
function copiedIn(node: Node): readonly (Node | undefined)[] {
  if (node.type === "ConditionalExpression") return [node["consequent"], node["alternate"]].flatMap((branch) => copiedIn(branch as Node));
  if (node.type === "ArrayExpression") return spreads(node["elements"]);
  // With named members only, the object does not grow.
  if (node.type === "ObjectExpression") return growsObject(node["properties"] as readonly Node[]) ? spreads(node["properties"]) : [];
  const [first] = (node["arguments"] ?? []) as readonly (Node | undefined)[];
  const callee = asNode(node["callee"]);
  if (node.type === "NewExpression" && ["Map", "Set"].includes(nameOf(callee) ?? "")) return [first, ...(first ? copiedIn(first) : [])];
  const isConcat = node.type === "CallExpression" && nameOf(callee?.["property"]) === "concat" && nameOf(callee?.["object"]) === "Buffer";
  return isConcat && first?.type === "ArrayExpression"
    ? (first["elements"] as readonly Node[]).flatMap((item) => [item, ...spreads([item])])
    : [];
}

const growsObject = (members: readonly Node[]): boolean =>
  members.filter(({ type }) => type === "SpreadElement").length > 1 || members.some((member) => member["computed"] === true);

const spreads = (items: unknown): readonly (Node | undefined)[] =>
  (items as readonly unknown[]).map(asNode).flatMap((item) => (item?.type === "SpreadElement" ? [asNode(item["argument"])] : []));

function isMarked(text: string, at: number): boolean {
  const from = text.lastIndexOf("\n", at) + 1;
  return /\/\/ few: \S.*$/.test(text.slice(text.lastIndexOf("\n", from - 2) + 1, from).trim());
}
