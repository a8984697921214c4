/** `cause` and `remedy` become the error's page in docs/errors/. Codes are never reused. */
export interface ErrorCode {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * Every public error code, by the name the code throws it under. Numbers the field knows keep their
 * meaning (contract.md §2, dns.md); ours have no clash with them. Several names may share one number.
 */
export const ERROR_CODES = {
  internal: { code: 10500, status: 500, message: "Internal error", cause: "The server failed in a way it did not expect.", remedy: "Retry; if it stays, look for the request id in the server's log." },
  malformed_json: { code: 6007, status: 400, message: "Malformed JSON in request body", cause: "The body is not JSON.", remedy: "Send valid JSON with Content-Type: application/json." },
  invalid_request_headers: { code: 6003, status: 400, message: "Invalid request headers", cause: "A credential header has the wrong format; error_chain names it.", remedy: "Correct the header named in error_chain." },
  missing_credentials: { code: 9106, status: 400, message: "Missing X-Auth-Key, X-Auth-Email or Authorization headers", cause: "The request carries no credentials.", remedy: "Send Authorization: Bearer TOKEN, or X-Auth-Email with X-Auth-Key." },
  authentication_error: { code: 10000, status: 403, message: "Authentication error", cause: "The credential lacks the permission that the operation needs.", remedy: "Give the token a permission group that the operation's reference names." },
  invalid_token: { code: 9109, status: 403, message: "Invalid access token", cause: "The token does not exist, is disabled or has expired.", remedy: "Create or roll a token." },
  token_location: { code: 9109, status: 403, message: "Cannot use the access token from location", cause: "The token has an address condition that the client's address does not meet.", remedy: "Call from an allowed address or edit the token's condition." },
  unauthorized_resource: { code: 9109, status: 403, message: "Unauthorized to access requested resource", cause: "The resource belongs to another account, or does not exist.", remedy: "Use a credential of the account that owns it." },
  unknown_key: { code: 9103, status: 403, message: "Unknown X-Auth-Key or X-Auth-Email", cause: "No user has this e-mail address and key.", remedy: "Check both headers." },
  no_route: { code: 7000, status: 404, message: "No route for that URI", cause: "No endpoint has this path and method.", remedy: "Check the path against the reference." },
  bad_identifier: { code: 7003, status: 404, message: "Could not route to the URI, perhaps your object identifier is invalid?", cause: "An identifier in the path is not of the expected form.", remedy: "Identifiers are 32 lower-case hexadecimal characters." },
  invalid_input: { code: 10400, status: 400, message: "Invalid request", cause: "A field or query parameter has a value that is not allowed.", remedy: "See the message and source.pointer." },
  rate_limited: { code: 971, status: 429, message: "Please wait and consider throttling your request speed", cause: "More requests than the token's limit allows.", remedy: "Wait for the seconds in Retry-After." },
  gone: { code: 10410, status: 410, message: "This endpoint reached its end of life", cause: "The endpoint was removed on the date in the message.", remedy: "Use the replacement that the message names." },
  not_found: { code: 10404, status: 404, message: "Not found", cause: "The object does not exist in this account.", remedy: "List the collection to see what exists." },
  zone_not_found: { code: 1001, status: 404, message: "Invalid zone identifier", cause: "No zone with this identifier exists for this credential.", remedy: "List the zones the credential can see." },
} as const satisfies Record<string, ErrorCode>;

export type ErrorName = keyof typeof ERROR_CODES;
