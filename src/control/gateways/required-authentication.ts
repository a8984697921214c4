import type { CallRules } from "#kernel/call-rules.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { GatewayUpdate } from "#model/gateways/gateway.ts";

const RULE = "authenticated_gateways";

/** A new gateway: from the day of the rule on it has authentication. Throws `gateway_input_invalid` if it is not to have it. */
export function withAuthentication<T extends GatewayUpdate>(body: T, rules: CallRules | undefined): T {
  if (body.authentication === true || rules?.refuses(RULE) !== true) return body;
  if (body.authentication === false) throw refusal();
  return { ...body, authentication: true };
}

/** An existing gateway: from the day of the rule on, authentication stays on. Throws `gateway_input_invalid`. */
export function checkAuthenticationStays(hasIt: boolean, { authentication }: GatewayUpdate, rules: CallRules | undefined): void {
  if (hasIt && authentication === false && rules?.refuses(RULE) === true) throw refusal();
}

const refusal = (): PlatformError =>
  new PlatformError("gateway_input_invalid", { message: "Gateways need authentication.", source: "/authentication" });
