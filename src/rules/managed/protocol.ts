import type { MatchedPart } from "./matched-part.ts";
import type { Certainty } from "./signatures/signature.ts";

/** An anomaly that an expression detects, in a ruleset that the program includes. */
export interface ProtocolRow {
  readonly slug: string;
  readonly title: string;
  readonly expression: string;
  /** Parts with the anomaly; of several parts, the first that the request has. */
  readonly shows: readonly MatchedPart[];
  readonly paranoia: 1 | 2 | 3 | 4;
  readonly score: number;
  readonly certainty: Certainty;
}

const ENCODED_PARTS = "raw.http.request.uri";

export const PROTOCOL_ANOMALIES: readonly ProtocolRow[] = [
  {
    slug: "protocol-nul",
    title: "A NUL byte in the URL",
    expression: `${ENCODED_PARTS} contains "%00"`,
    shows: ["uri"],
    paranoia: 1,
    score: 5,
    certainty: "certain",
  },
  {
    slug: "protocol-overlong",
    title: "An overlong UTF-8 encoding in the URL",
    expression: String.raw`lower(${ENCODED_PARTS}) matches r"%c[01]%[89ab][0-9a-f]|%e0%[89]0%[89ab]|%f0%80%8"`,
    shows: ["uri"],
    paranoia: 1,
    score: 5,
    certainty: "certain",
  },
  {
    slug: "protocol-line-break",
    title: "A line break in the path",
    expression: String.raw`lower(raw.http.request.uri.path) matches r"%0[ad]"`,
    shows: ["path"],
    paranoia: 1,
    score: 5,
    certainty: "certain",
  },
  {
    slug: "protocol-ranges",
    title: "Excessive number of ranges",
    expression: String.raw`any(http.request.headers["range"][*] matches r"^[a-z]{1,10}=(?:[^,]{0,40},){15}")`,
    shows: ["header:range"],
    paranoia: 1,
    score: 4,
    certainty: "certain",
  },
  {
    slug: "protocol-proxy",
    title: "A Proxy header, which programs behind CGI take for the address of their proxy",
    expression: String.raw`any(http.request.headers["proxy"][*] matches r"^[A-Za-z]{2,6}://")`,
    shows: ["header:proxy"],
    paranoia: 1,
    score: 5,
    certainty: "certain",
  },
  {
    slug: "protocol-multipart",
    title: "A multipart form without a boundary",
    expression: String.raw`any(http.request.headers["content-type"][*] matches r"(?i)^multipart/form-data") and not any(http.request.headers["content-type"][*] matches r"(?i)boundary=")`,
    shows: ["header:content-type"],
    paranoia: 1,
    score: 4,
    certainty: "likely",
  },
  {
    slug: "protocol-get-body",
    title: "A body in a GET or HEAD request",
    expression: 'http.request.method in {"GET" "HEAD"} and http.request.body.size gt 0',
    shows: ["body-size"],
    paranoia: 1,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-no-agent",
    title: "Missing User-Agent header",
    expression: 'http.user_agent eq ""',
    shows: ["header:user-agent"],
    paranoia: 2,
    score: 2,
    certainty: "likely",
  },
  {
    slug: "protocol-address-host",
    title: "An IP address instead of a host name",
    expression: String.raw`http.host matches r"^[0-9.]+$"`,
    shows: ["host"],
    paranoia: 2,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-method",
    title: "An unusual method",
    expression: 'not http.request.method in {"GET" "HEAD" "POST" "PUT" "PATCH" "DELETE" "OPTIONS"}',
    shows: ["method"],
    paranoia: 2,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-encoding",
    title: "An invalid percent escape in the URL",
    expression: String.raw`${ENCODED_PARTS} matches r"%(?:$|[^0-9A-Fa-fu]|[0-9A-Fa-f](?:$|[^0-9A-Fa-f]))"`,
    shows: ["uri"],
    paranoia: 2,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-rewriting-fields",
    title: "A header that overrides the URL",
    expression:
      'any(lower(http.request.headers.names[*])[*] in {"x-original-url" "x-rewrite-url" "x-override-url" "x-http-destinationurl"})',
    shows: ["header:x-original-url", "header:x-rewrite-url", "header:x-override-url", "header:x-http-destinationurl"],
    paranoia: 2,
    score: 4,
    certainty: "likely",
  },
  {
    slug: "protocol-scanner-fields",
    title: "A header that scanners add",
    expression:
      'any(lower(http.request.headers.names[*])[*] in {"acunetix-aspect" "acunetix-aspect-password" "acunetix-aspect-queries" "acunetix-product" "acunetix-scanning-agreement" "acunetix-user-agreement" "x-ratproxy-loop" "x-scan-memo" "x-scanner" "x-wipp"})',
    shows: [
      "header:acunetix-aspect",
      "header:acunetix-product",
      "header:x-ratproxy-loop",
      "header:x-scan-memo",
      "header:x-scanner",
      "header:x-wipp",
    ],
    paranoia: 1,
    score: 5,
    certainty: "certain",
  },
  {
    slug: "protocol-compressed-body",
    title: "A compressed body",
    expression: 'any(http.request.headers["content-encoding"][*] ne "identity")',
    shows: ["header:content-encoding"],
    paranoia: 2,
    score: 2,
    certainty: "likely",
  },
  {
    slug: "protocol-arguments",
    title: "Excessive number of arguments",
    expression: "len(http.request.uri.args.names) gt 255",
    shows: ["query"],
    paranoia: 2,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-twice-encoded",
    title: "Double percent escapes in the URL",
    expression: String.raw`${ENCODED_PARTS} matches r"%25[0-9A-Fa-f][0-9A-Fa-f]"`,
    shows: ["uri"],
    paranoia: 3,
    score: 3,
    certainty: "likely",
  },
  {
    slug: "protocol-no-accept",
    title: "Missing Accept header",
    expression: 'not any(lower(http.request.headers.names[*])[*] eq "accept")',
    shows: ["header:accept"],
    paranoia: 3,
    score: 2,
    certainty: "likely",
  },
];
