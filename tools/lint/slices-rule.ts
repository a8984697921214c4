import { isTestFile, type Node, nameOf, type Rule } from "./rule.ts";

/** Files in which only one task at a time yields: under the lock of the database, in a job, in a thread for it alone, or at the start. */
const ALONE: ReadonlySet<string> = new Set([
  "src/control/dns/changes/change-checks.ts",
  "src/control/dns/changes/change-records.ts",
  "src/control/logpush/batch.ts",
  "src/control/notifications/spikes/publish-counts.ts",
  "src/control/notifications/spikes/subjects.ts",
  "src/control/notifications/spikes/watch.ts",
  "src/control/rebuild.ts",
]);

/** With `setImmediate`, thirty requests of one tenant have thirty slices in each tick, and others wait for all of them. */
export const slices: Rule = {
  create(context) {
    const path = /\/(src\/(?:control|api)\/.*)/.exec(context.filename)?.[1];
    if (path === undefined || isTestFile(path) || ALONE.has(path)) return {};
    return {
      ImportDeclaration: (node: Node) => {
        if (nameOf(node["source"]) !== "node:timers/promises") return;
        for (const specifier of node["specifiers"] as readonly Node[])
          if (nameOf(specifier["imported"]) === "setImmediate")
            context.report({
              node: specifier,
              message: "requests share one slice in each tick: await backgroundTurn() (kernel/background-turn.ts)",
            });
      },
    };
  },
};
