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
  token_unverifiable: { code: 1000, status: 401, message: "Invalid API Token", cause: "The credential is no token of the kind that this endpoint verifies.", remedy: "Verify a user's token under /user/tokens/verify and an account's token under /accounts/{account_id}/tokens/verify." },
  no_longer_supported: { code: 10411, status: 400, message: "This form of the request is no longer supported", cause: "A deprecated field or query form was removed on the date in the message.", remedy: "Use the replacement that the message names." },
  still_in_use: { code: 10412, status: 400, message: "The object is still in use", cause: "Other objects depend on this one.", remedy: "Delete what the message names first." },
  body_too_large: { code: 10413, status: 413, message: "The request body is too large", cause: "The body exceeds the server's limit.", remedy: "Send several smaller requests." },
  header_too_large: { code: 10431, status: 431, message: "The request header is too large", cause: "Request line and header fields together exceed the server's limit.", remedy: "Shorten the address or the header fields." },
  malformed_http: { code: 10401, status: 400, message: "Malformed HTTP request", cause: "The bytes are no HTTP request that the server accepts.", remedy: "Send a valid HTTP/1.1 request." },
  request_timeout: { code: 10408, status: 408, message: "The request took too long to arrive", cause: "The request was not complete within the server's time limit.", remedy: "Send the request again." },
  zone_not_found: { code: 1001, status: 404, message: "Invalid zone identifier", cause: "No zone with this identifier exists for this credential.", remedy: "List the zones the credential can see." },
  zone_exists: { code: 1061, status: 400, message: "The zone already exists.", cause: "A zone of this name exists already on this installation.", remedy: "Use the existing zone, or delete it first." },
  zone_name_invalid: { code: 1049, status: 400, message: "The zone name is not a domain that can be registered.", cause: "The name is no host name, or is a public suffix.", remedy: "Send the registrable domain, for example example.com." },
  zone_not_root: { code: 1116, status: 400, message: "The zone name must be the root domain and not a subdomain.", cause: "The name lies below a domain that can be registered.", remedy: "Create the zone of the root domain, for example example.com instead of www.example.com." },
  zone_type_unavailable: { code: 1098, status: 400, message: "This zone type is not available.", cause: "The installation does not serve zones of this type.", remedy: "Create the zone with type full." },
  dns_name_invalid: { code: 9000, status: 400, message: "DNS name is invalid.", cause: "The record's name is missing, has a label that DNS does not allow, or lies outside the zone.", remedy: "Send a subdomain, @ for the apex, or the full name below the zone." },
  dns_content_a: { code: 9005, status: 400, message: "Content for A record must be a valid IPv4 address.", cause: "The content of an A record is no IPv4 address.", remedy: "Send four decimal octets, for example 192.0.2.1." },
  dns_content_aaaa: { code: 9006, status: 400, message: "Content for AAAA record must be a valid IPv6 address.", cause: "The content of an AAAA record is no IPv6 address.", remedy: "Send an IPv6 address, for example 2001:db8::1." },
  dns_content_invalid: { code: 9007, status: 400, message: "Content for record is invalid.", cause: "The content or data of the record does not have the form that its type needs.", remedy: "See the message for the field that is wrong." },
  dns_content_too_long: { code: 9015, status: 400, message: "Record content exceeds the allowed length of 4096 wire format bytes.", cause: "The record is too long.", remedy: "Shorten the content." },
  dns_type_invalid: { code: 9020, status: 400, message: "DNS record type is invalid.", cause: "The record type is missing or not one that can be created.", remedy: "Send one of the types of the reference." },
  dns_ttl_invalid: { code: 9021, status: 400, message: "TTL must be between 60 and 86400 seconds, or 1 for Automatic.", cause: "The time to live is out of range.", remedy: "Send 1, or a number of seconds in the range." },
  dns_proxied_invalid: { code: 9041, status: 400, message: "Invalid proxied mode. Record cannot be proxied", cause: "Only A, AAAA and CNAME records whose address may be an origin can be proxied.", remedy: "Send proxied false, or let the operator allow the address as an origin." },
  dns_origin_own_address: { code: 9042, status: 400, message: "The origin address cannot be an address of this service's own network.", cause: "A proxied record names an address of the edge, which would send requests back to itself.", remedy: "Send the address of the origin server." },
  dns_tags_quota: { code: 9300, status: 400, message: "DNS record has more tags than its quota allows.", cause: "The zone's plan limits the tags of a record.", remedy: "Send fewer tags, or change the zone's plan." },
  dns_tag_invalid: { code: 9301, status: 400, message: "DNS record tag is invalid.", cause: "A tag is name or name:value; the name has up to 32 letters, digits, hyphens and underscores, the value up to 100 characters.", remedy: "Correct the tag that the message names." },
  dns_comment_invalid: { code: 9302, status: 400, message: "DNS record comment is invalid.", cause: "The comment is too long for the zone's plan or holds a line break.", remedy: "Shorten the comment to one line." },
  dns_record_not_found: { code: 81044, status: 404, message: "Record does not exist.", cause: "The zone has no record with this identifier.", remedy: "List the records of the zone." },
  dns_quota: { code: 81045, status: 400, message: "Record quota exceeded.", cause: "The zone has as many records as it may have.", remedy: "Delete records that are not needed." },
  dns_host_exists: { code: 81053, status: 400, message: "An A, AAAA, or CNAME record with that host already exists.", cause: "A CNAME record cannot share its name with other records (RFC 1034 §3.6.2).", remedy: "Delete the other records of the name, or choose another name." },
  dns_cname_exists: { code: 81054, status: 400, message: "A CNAME record with that host already exists.", cause: "The name has a CNAME record, which excludes other records.", remedy: "Delete the CNAME record, or choose another name." },
  dns_ns_exists: { code: 81056, status: 400, message: "NS records with that host already exist.", cause: "The name is delegated by NS records, so the zone holds nothing else for it.", remedy: "Create the record in the delegated zone, or delete the NS records." },
  dns_record_exists: { code: 81058, status: 400, message: "An identical record already exists.", cause: "A record of this name, type and content exists.", remedy: "Nothing is to be done, or edit the existing record." },
  dns_set_too_long: { code: 83011, status: 400, message: "Combined content length of records with this name and type exceeds the limit.", cause: "The records of one name and type exceed 8192 wire format bytes together.", remedy: "Shorten or delete records of the name and type." },
  ruleset_not_found: { code: 10001, status: 404, message: "could not find ruleset", cause: "No ruleset with this identifier exists at this level.", remedy: "List the rulesets." },
  rule_not_found: { code: 10002, status: 404, message: "could not find rule", cause: "The ruleset has no rule with this identifier.", remedy: "Get the ruleset to see its rules." },
  entrypoint_not_found: { code: 10003, status: 404, message: "could not find entrypoint ruleset", cause: "The phase has no entry point ruleset yet.", remedy: "Create one with POST or PUT." },
  ruleset_invalid: { code: 20015, status: 400, message: "The ruleset is invalid.", cause: "A field of the ruleset or of one of its rules has a value that is not allowed.", remedy: "See the message and source.pointer." },
  rule_expression_invalid: { code: 20127, status: 400, message: "The rule's expression is invalid.", cause: "The expression cannot be parsed, or uses a field that its phase does not have.", remedy: "The message names line and column." },
  ruleset_entrypoint_exists: { code: 20217, status: 400, message: "exceeded maximum number of rulesets for the phase", cause: "A phase has at most one entry point ruleset per zone or account.", remedy: "Change the existing entry point." },
  gateway_input_invalid: { code: 7001, status: 400, message: "Input Validation Error", cause: "A field of the gateway is missing or out of range.", remedy: "See the message and source.pointer." },
  gateway_not_found: { code: 7002, status: 404, message: "Not Found", cause: "The account has no gateway of this id.", remedy: "List the gateways." },
  aig_unknown_gateway: { code: 2001, status: 400, message: "There is no AI gateway with this account and identifier; create it through the management API first", cause: "The first two parts of the path name no gateway.", remedy: "Check account and gateway in the address, or create the gateway." },
  aig_invalid_provider: { code: 2008, status: 400, message: "Invalid provider", cause: "The third part of the path names no provider of the gateway's table.", remedy: "Use a provider name of the reference, for example openai." },
  aig_unauthorized: { code: 2009, status: 401, message: "Unauthorized", cause: "Authenticated Gateway is on, and the request carries no valid gateway token: it is missing, unknown, expired, for another account or used from an address outside its condition.", remedy: "Send the gateway's authorization header with a token that has the AI Gateway Run permission." },
  aig_bad_request_body: { code: 2019, status: 400, message: "Chat completion bad format", cause: "The body of a chat completion is not a JSON object with a model.", remedy: "Send a JSON object with model and messages." },
  aig_bad_request: { code: 2900, status: 400, message: "Malformed request", cause: "The request is not HTTP, or its path or a header cannot be passed on.", remedy: "Correct the path: {gateway_url}/v1/{account_id}/{gateway_id}/{provider}/…" },
  aig_body_too_large: { code: 2901, status: 413, message: "The request body is larger than the gateway accepts", cause: "The body exceeds the gateway's limit.", remedy: "Send less; upload files to the provider directly." },
  aig_upstream_failed: { code: 2902, status: 502, message: "The provider could not be reached, or broke off before it answered", cause: "No connection to the provider, or it ended without a complete answer.", remedy: "Retry; check the provider's address and state." },
  aig_upstream_timeout: { code: 2903, status: 504, message: "The provider did not answer in time", cause: "The provider sent nothing within the gateway's time limit.", remedy: "Retry, or ask for a stream so that the answer begins earlier." },
  aig_overloaded: { code: 2904, status: 503, message: "The gateway is at its limit; retry in a moment", cause: "The gateway holds as many requests or bytes as it may.", remedy: "Wait for the seconds in Retry-After." },
  aig_internal: { code: 2905, status: 500, message: "The gateway failed in a way it did not expect", cause: "A defect of the gateway.", remedy: "Retry; if it stays, look for the log id in the server's log." },
} as const satisfies Record<string, ErrorCode>;

export type ErrorName = keyof typeof ERROR_CODES;
