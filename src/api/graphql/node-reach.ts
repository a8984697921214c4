import { ANALYTICS_NODES } from "#model/events/analytics.ts";
import type { GraphQlContext } from "./context.ts";

const MINUTE_MS = 60_000;
/** Limit of GraphQL's integers. */
const INT_MAX = 2 ** 31 - 1;

/** How many seconds back a node can answer, by the data that it reads. */
export function reachOf(name: string): (context: GraphQlContext) => number {
  const node = ANALYTICS_NODES.find((known) => known.name === name);
  const made = node?.kind === "rows" ? "rows" : node?.intervalMs === MINUTE_MS ? "minutes" : "hours";
  return ({ req }) => {
    const { onlyGatewaysCount, ...seconds } = req.control.retentionSeconds;
    const isFromRows = onlyGatewaysCount && node?.dataset !== "aiGatewayRequests";
    return Math.min(seconds[isFromRows ? "rows" : made], INT_MAX);
  };
}
