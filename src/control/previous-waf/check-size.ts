import { PlatformError } from "#kernel/errors/errors.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { compilePreviousWaf } from "./compile-previous-waf.ts";
import { withNormalPatterns } from "./normal-patterns.ts";
import type { PreviousFirewall } from "./state.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** Limit of rules at the edge, because each page rule that enables the WAF repeats every override. */
const EDGE_RULES_MAX = 2000;

/** Throws `firewall_invalid` if a zone's previous WAF would exceed the limit. */
export function checkSize(firewall: PreviousFirewall, zone: Pick<ZoneRow, "edge_settings">): void {
  const rules = compilePreviousWaf(withNormalPatterns(firewall, zone), true);
  if (rules.length > EDGE_RULES_MAX)
    throw new PlatformError("firewall_invalid", {
      message: `page rules and overrides together compile to ${rules.length} rules; the limit is ${EDGE_RULES_MAX}`,
    });
  for (const expression of new Set(rules.map((rule) => rule.expression))) {
    try {
      compileExpression(expression, "http_request_firewall_managed");
    } catch (error) {
      if (error instanceof ExpressionError)
        throw new PlatformError("firewall_invalid", { message: `the URL patterns cannot be compiled: ${error.message}` });
      throw error;
    }
  }
}
