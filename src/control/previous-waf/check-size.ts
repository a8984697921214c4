import { PlatformError } from "#kernel/errors/errors.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { compilePreviousWaf } from "./compile-previous-waf.ts";
import type { PreviousFirewall } from "./state.ts";

/** Each page rule that turns the WAF on runs every override: together they are as many rules at the edge. */
const EDGE_RULES_MAX = 2000;

/** Throws `firewall_invalid` where the previous WAF of a zone became more than the edge should run. */
export function checkSize(firewall: PreviousFirewall): void {
  const rules = compilePreviousWaf(firewall, true);
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
