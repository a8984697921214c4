import { asNode, type Node, nameOf, type Rule } from "./rule.ts";

/** The shapes that DESIGN.md §8 excludes: barrels, base classes, decorators. */
export const shape: Rule = {
  create(context) {
    const checkClass = (node: Node): void => {
      const base = asNode(node["superClass"]);
      const name = base?.type === "MemberExpression" ? nameOf(base["property"]) : nameOf(base);
      if (base && !name?.endsWith("Error"))
        context.report({ node, message: "only errors extend a class: take the dependency as an argument instead" });
    };
    return {
      ExportAllDeclaration: (node: Node) => context.report({ node, message: "no barrels: import from the file that defines it" }),
      Decorator: (node: Node) => context.report({ node, message: "no decorators: call the function" }),
      ClassDeclaration: checkClass,
      ClassExpression: checkClass,
    };
  },
};
