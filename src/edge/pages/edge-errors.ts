/** The place of a fault: the visitor's request, the edge, or the site's origin. */
export type FaultSide = "visitor" | "edge" | "origin";

/** An error that the edge answers, as a row of the table below. */
export interface EdgeError {
  /** Number of the error for clients and support, the same as at other CDNs where they have one (SPEC 7: 1016). */
  readonly code: number;
  readonly status: number;
  readonly title: string;
  /** For the visitor. Names nothing of the origin or of this machine. */
  readonly message: string;
  readonly place: FaultSide;
}

export const EDGE_ERRORS = {
  bad_request: {
    code: 400,
    status: 400,
    title: "Bad request",
    message: "The request is not valid HTTP. It was not forwarded.",
    place: "visitor",
  },
  request_timeout: { code: 408, status: 408, title: "Request timeout", message: "The request did not arrive in time.", place: "visitor" },
  body_too_large: {
    code: 413,
    status: 413,
    title: "Content too large",
    message: "The request's content or its framing is too large.",
    place: "visitor",
  },
  target_too_long: { code: 414, status: 414, title: "URI too long", message: "The request's URL is too long.", place: "visitor" },
  expectation_failed: {
    code: 417,
    status: 417,
    title: "Expectation failed",
    message: "The Expect header of the request is not supported.",
    place: "visitor",
  },
  head_too_large: {
    code: 431,
    status: 431,
    title: "Request header fields too large",
    message: "The request's header fields are too many or too large.",
    place: "visitor",
  },
  not_implemented: {
    code: 501,
    status: 501,
    title: "Not implemented",
    message: "The request method is not supported.",
    place: "visitor",
  },
  version_not_supported: {
    code: 505,
    status: 505,
    title: "HTTP version not supported",
    message: "This connection supports only HTTP/1.0 and HTTP/1.1.",
    place: "visitor",
  },
  challenged: {
    code: 1040,
    status: 403,
    title: "Challenge required",
    message: "This site requires a browser that runs JavaScript.",
    place: "visitor",
  },
  blocked: {
    code: 1020,
    status: 403,
    title: "Access denied",
    message: "A security rule of this site blocked the request.",
    place: "visitor",
  },
  misdirected: {
    code: 421,
    status: 421,
    title: "Misdirected request",
    message: "This site requires a separate connection with a newer version of TLS.",
    place: "visitor",
  },
  websockets_off: {
    code: 403,
    status: 403,
    title: "WebSockets not supported",
    message: "This site does not accept WebSocket connections.",
    place: "visitor",
  },
  rules_exhausted: {
    code: 1102,
    status: 503,
    title: "Rules exceeded their resource limit",
    message: "This site's rules took too long to process this request.",
    place: "origin",
  },
  rate_limited: {
    code: 1015,
    status: 429,
    title: "Too many requests",
    message: "You have sent more requests than this site accepts.",
    place: "visitor",
  },
  prohibited_address: {
    code: 1000,
    status: 403,
    title: "DNS points to a prohibited address",
    message: "The address of the site's origin is not allowed.",
    place: "origin",
  },
  unroutable: {
    code: 1016,
    status: 530,
    title: "Origin DNS error",
    message: "This host name has no origin: it has no proxied DNS record, or the record's target has no address.",
    place: "origin",
  },
  hostname_pending: {
    code: 1016,
    status: 530,
    title: "Custom hostname not validated",
    message: "The validation of this custom hostname is incomplete: the hostname does not CNAME to the zone that serves it.",
    place: "origin",
  },
  fallback_origin_missing: {
    code: 1016,
    status: 530,
    title: "Fallback origin not set",
    message: "The zone that serves this custom hostname does not have a fallback origin.",
    place: "origin",
  },
  hostname_origin_missing: {
    code: 1016,
    status: 530,
    title: "Custom hostname has no origin",
    message: "The origin of this custom hostname has no proxied DNS record, or the record's target has no address.",
    place: "origin",
  },
  wildcard_shadowed: {
    code: 1016,
    status: 530,
    title: "Wildcard hostname not used",
    message:
      "A wildcard custom hostname covers this host name, but the name lies in a zone of its own, whose DNS takes precedence and has no proxied record for it. Add the name as an individual custom hostname.",
    place: "origin",
  },
  tunnel_down: {
    code: 1033,
    status: 530,
    title: "Tunnel error",
    message: "This host name belongs to a tunnel, and no connector of the tunnel is connected.",
    place: "origin",
  },
  cross_account: {
    code: 1014,
    status: 409,
    title: "CNAME cross-user banned",
    message: "This host name points to a proxied name of another account, and only that account serves it.",
    place: "origin",
  },
  loop: { code: 508, status: 508, title: "Loop detected", message: "The request already passed through this service.", place: "visitor" },
  overloaded: {
    code: 503,
    status: 503,
    title: "Service unavailable",
    message: "Too many requests are in progress. Try again later.",
    place: "edge",
  },
  tunnel_unset: {
    code: 503,
    status: 503,
    title: "Tunnel has no rules",
    message: "This host name belongs to a tunnel, and no rule says where the tunnel's requests go.",
    place: "origin",
  },
  origin_malformed: {
    code: 520,
    status: 520,
    title: "Unknown origin error",
    message: "The origin closed the connection or sent a response that is not valid HTTP.",
    place: "origin",
  },
  origin_head_too_large: {
    code: 520,
    status: 520,
    title: "Origin header too large",
    message: "The header of the origin's response is larger than this service accepts (edge.origin_header_bytes_max).",
    place: "origin",
  },
  origin_fields_too_many: {
    code: 520,
    status: 520,
    title: "Too many origin header fields",
    message: "The header of the origin's response has more fields than this service accepts (edge.origin_header_fields_max).",
    place: "origin",
  },
  origin_refused: { code: 521, status: 521, title: "Origin is down", message: "The origin refused the connection.", place: "origin" },
  origin_connect_timeout: {
    code: 522,
    status: 522,
    title: "Connection timed out",
    message: "The origin did not accept the connection in time.",
    place: "origin",
  },
  origin_unreachable: { code: 523, status: 523, title: "Origin is unreachable", message: "No route to the origin.", place: "origin" },
  origin_timeout: {
    code: 524,
    status: 524,
    title: "A timeout occurred",
    message: "The origin accepted the request but did not respond in time.",
    place: "origin",
  },
  origin_handshake: {
    code: 525,
    status: 525,
    title: "TLS handshake failed",
    message: "The TLS handshake with the origin failed.",
    place: "origin",
  },
  origin_certificate: {
    code: 526,
    status: 526,
    title: "Invalid TLS certificate",
    message: "The origin's certificate could not be verified.",
    place: "origin",
  },
} as const satisfies Record<string, EdgeError>;

export type EdgeErrorName = keyof typeof EDGE_ERRORS;

const NAMES: ReadonlyMap<EdgeError, EdgeErrorName> = new Map(
  Object.entries(EDGE_ERRORS).map(([name, error]) => [error, name as EdgeErrorName]),
);

/** The name of a row, which distinguishes causes that share a code. */
export const nameOfEdgeError = (error: EdgeError): EdgeErrorName => NAMES.get(error)!;

/** The error for a status with which the parser refuses a request. */
export function errorForStatus(status: number): EdgeErrorName {
  return BY_STATUS[status] ?? "bad_request";
}

const BY_STATUS: Readonly<Record<number, EdgeErrorName>> = {
  408: "request_timeout",
  413: "body_too_large",
  414: "target_too_long",
  417: "expectation_failed",
  431: "head_too_large",
  501: "not_implemented",
  505: "version_not_supported",
};
