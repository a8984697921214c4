import { asNode, type Node, nameOf, type Rule } from "./rule.ts";

/** The log of a server in another process arrives through a pipe, perhaps after the answer that follows it. */
export const logged: Rule = {
  create: (context) => ({
    CallExpression: (node: Node) => {
      const callee = asNode(node["callee"]);
      if (callee?.type !== "MemberExpression" || nameOf(callee["object"]) !== "assert" || nameOf(callee["property"]) !== "match") return;
      const read = asNode((node["arguments"] as readonly unknown[])[0]);
      const method = read?.type === "CallExpression" ? asNode(read["callee"]) : undefined;
      if (method?.type === "MemberExpression" && nameOf(method["property"]) === "log")
        context.report({ node, message: "the line may not have arrived yet: await logged(pattern) (test/support/selvedge.ts)" });
    },
  }),
};
