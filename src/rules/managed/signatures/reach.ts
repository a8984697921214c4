import { parseRegex, type Regex } from "#rules/regex/regex-syntax.ts";
import { simplifyTest } from "#rules/regex/regex-linear.ts";

/** How much of a text decides whether a pattern is in it. */
export interface Reach {
  /** Bytes of the longest match. */
  readonly bytes: number;
  /** Every match begins where the text does. */
  readonly isAtStart: boolean;
  /** Some match only at the text's ends. */
  readonly hasEdges: boolean;
}

/** Null if a match may have any length. */
export function reachOf(pattern: string): Reach | null {
  const regex = simplifyTest(parseRegex(pattern));
  const bytes = longest(regex);
  return bytes === null ? null : { bytes, isAtStart: beginsAtStart(regex), hasEdges: hasEdge(regex) };
}

function longest(regex: Regex): number | null {
  switch (regex.kind) {
    case "set":
      return 1;
    case "assert":
      return 0;
    case "capture":
      return longest(regex.item);
    case "repeat": {
      const item = longest(regex.item);
      return item === null || regex.max === null ? null : item * regex.max;
    }
    default: {
      const items = regex.items.map(longest);
      if (items.includes(null)) return null;
      return regex.kind === "choice" ? Math.max(...items.map(Number)) : items.reduce<number>((sum, item) => sum + Number(item), 0);
    }
  }
}

const inside = (regex: Regex): readonly Regex[] => ("items" in regex ? regex.items : "item" in regex ? [regex.item] : []);

function beginsAtStart(regex: Regex): boolean {
  if (regex.kind === "assert") return regex.what === "start";
  if (regex.kind === "choice") return regex.items.every(beginsAtStart);
  if (regex.kind === "capture") return beginsAtStart(regex.item);
  return regex.kind === "sequence" && regex.items[0] !== undefined && beginsAtStart(regex.items[0]);
}

/** Whether the ends of words are visible in single bytes. */
const hasEdge = (regex: Regex): boolean =>
  regex.kind === "assert" ? regex.what !== "word" && regex.what !== "not-word" : inside(regex).some(hasEdge);
