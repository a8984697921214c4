import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import { Badge } from "../../../parts/page.tsx";
import { foundAction } from "./found-words.ts";

/** The action of sensitive data or guardrails; nothing if they found nothing. */
export function FoundBadge({ log }: { readonly log: GatewayLog }) {
  const action = foundAction(log);
  return action && <Badge tone={action === "blocked" ? "bad" : "warn"}>{action}</Badge>;
}
