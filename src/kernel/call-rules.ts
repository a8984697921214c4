/** Rules of the API that begin on a day (`call_rule` in deprecations/deprecation.ts), as use-cases name them. */
export type CallRule = "fixed_record_types" | "authenticated_gateways";

/** The rules on the API date of a call. */
export interface CallRules {
  /** Whether the rule refuses what the call does. If the rule has not begun, the call is counted as one that it will refuse. */
  refuses(rule: CallRule): boolean;
}
