import { asNode, isTestFile, type Node, nameOf, type Rule, type RuleContext } from "./rule.ts";

/** Global objects and their members that read the time. */
const READS: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  performance: ["now", "timeOrigin", "toJSON"],
  process: ["hrtime", "uptime"],
  Temporal: ["Now"],
};

/** Modules under whose exports the same can be had by another name. */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  "node:perf_hooks": ["performance"],
  perf_hooks: ["performance"],
  "node:process": ["hrtime", "uptime"],
  process: ["hrtime", "uptime"],
};

/** Only kernel/clock.ts reads the system clock (DESIGN.md §3); tests may. */
export const clock: Rule = {
  create(context) {
    if (!inScope(context.filename)) return {};
    return {
      MemberExpression: (node: Node) => checkMember(context, node),
      NewExpression: (node: Node) => {
        if (nameOf(node["callee"]) === "Date" && (node["arguments"] as unknown[]).length === 0) report(context, node, "new Date()");
      },
      CallExpression: (node: Node) => {
        // Called as a function, Date ignores its arguments and returns the time.
        if (nameOf(node["callee"]) === "Date") report(context, node, "Date()");
      },
      VariableDeclarator: (node: Node) => checkDestructuring(context, node),
      ImportDeclaration: (node: Node) => checkImport(context, node),
    };
  },
};

function inScope(filename: string): boolean {
  return /\/src\//.test(filename) && !isTestFile(filename) && !filename.endsWith("/src/kernel/clock.ts");
}

function report(context: RuleContext, node: Node, what: string): void {
  context.report({ node, message: `${what} reads the system clock: take a Clock (kernel/clock.ts)` });
}

function checkMember(context: RuleContext, node: Node): void {
  const object = globalName(node["object"]);
  const property = nameOf(node["property"]);
  if (object !== undefined && property !== undefined && READS[object]?.includes(property)) report(context, node, `${object}.${property}`);
}

/** `Date`, or `globalThis.Date`. */
function globalName(value: unknown): string | undefined {
  const node = asNode(value);
  return node?.type === "MemberExpression" && nameOf(node["object"]) === "globalThis" ? nameOf(node["property"]) : nameOf(node);
}

function checkDestructuring(context: RuleContext, node: Node): void {
  const pattern = asNode(node["id"]);
  const object = globalName(node["init"]);
  if (pattern?.type !== "ObjectPattern" || object === undefined) return;
  for (const property of pattern["properties"] as readonly Node[]) {
    const name = nameOf(property["key"]);
    if (name !== undefined && READS[object]?.includes(name)) report(context, property, `${object}.${name}`);
  }
}

function checkImport(context: RuleContext, node: Node): void {
  const module = nameOf(node["source"]) ?? "";
  for (const specifier of node["specifiers"] as readonly Node[]) {
    const name = nameOf(specifier["imported"]);
    if (name !== undefined && Object.hasOwn(IMPORTS, module) && IMPORTS[module]?.includes(name))
      report(context, specifier, `${name} of ${module}`);
  }
}
