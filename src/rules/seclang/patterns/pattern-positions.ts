import { PatternError, type PcreNode } from "./pcre-node.ts";

/**
 * The positions of a pattern with its repetitions expanded: the cost of making its automaton. Throws PatternError for
 * look-around and references, which have no automaton, so that their time is not bounded by the text alone.
 */
export function patternPositions(node: PcreNode): number {
  switch (node.kind) {
    case "set":
    case "assert":
      return 1;
    case "sequence":
    case "choice":
      return node.items.reduce((sum, item) => sum + patternPositions(item), 1);
    case "repeat":
      return 1 + patternPositions(node.item) * Math.max(1, node.max ?? node.min + 1);
    case "capture":
    case "atomic":
      return patternPositions(node.item);
    case "look":
      throw new PatternError("look-around is not available here", 0);
    case "reference":
      throw new PatternError("references to groups are not available here", 0);
  }
}
