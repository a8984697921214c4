/**
 * Parts of a gateway request's path: `/v1/{account_id}/{gateway_id}/{provider}{rest}?{query}`; the path of the universal
 * endpoint has no provider.
 */
export interface RequestPath {
  readonly accountId: string;
  readonly gatewayId: string;
  readonly provider: string;
  /** From the slash on; empty if nothing follows the provider. */
  readonly rest: string;
  /** With the question mark; empty without a query. */
  readonly query: string;
}

const PATH_BYTES_MAX = 8192;

/**
 * The parts of a request target, or undefined if it has another form. Nothing is decoded: the provider gets what the
 * client sent. A dot segment, plain or encoded, could leave the provider's base path, so it is refused (RFC 3986 §5.2.4).
 */
export function parseRequestPath(target: string): RequestPath | undefined {
  if (target.length > PATH_BYTES_MAX || !target.startsWith("/v1/")) return undefined;
  const question = target.indexOf("?");
  const path = question < 0 ? target : target.slice(0, question);
  const accountEnd = path.indexOf("/", 4);
  if (accountEnd < 0) return undefined;
  const gatewaySlash = path.indexOf("/", accountEnd + 1);
  const gatewayEnd = gatewaySlash < 0 ? path.length : gatewaySlash;
  const providerEnd = path.indexOf("/", gatewayEnd + 1);
  const end = providerEnd < 0 ? path.length : providerEnd;
  const rest = path.slice(end);
  if (isUnsafePath(rest)) return undefined;
  return {
    accountId: path.slice(4, accountEnd),
    gatewayId: path.slice(accountEnd + 1, gatewayEnd),
    provider: path.slice(gatewayEnd + 1, end),
    rest,
    query: question < 0 ? "" : target.slice(question),
  };
}

/** Whether a server could resolve the path to another one. */
export const isUnsafePath = (rest: string): boolean =>
  // Rare characters first: the expression runs only for the few paths that have one.
  /[.%\\#]/.test(rest) && /(^|[/\\])(\.|%2e){1,2}([/\\]|%2f|%5c|$)|%(2f|5c)(\.|%2e)|[\\#]/i.test(rest);
