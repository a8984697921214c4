import { joinUri } from "#rules/expression/request/request-parts.ts";
import type { RequestView } from "#rules/views.ts";
import type { BodyCause } from "#rules/body/body-causes.ts";

/** The match of a rule about bodies: the cause, and the content type of the body. */
export const matchedCause = (cause: BodyCause, request: RequestView): Matched => ({
  part: "http.request.body.raw",
  name: cause,
  value: request.headers("content-type").join(", ").slice(0, VALUE_CHARACTERS_MAX),
});

/** The part of a request that an expression judges as a whole, for explanations of matches. */
export type MatchedPart = "uri" | "path" | "query" | "method" | "host" | "body-size" | `header:${string}`;

const VALUE_CHARACTERS_MAX = 200;

/** As received; empty if the request lacks the part. */
export function matchedPart(part: MatchedPart, request: RequestView): Matched {
  const { part: field, name, value } = read(part, request);
  return { part: field, name, value: value.slice(0, VALUE_CHARACTERS_MAX) };
}

function read(part: MatchedPart, request: RequestView): Matched {
  const { received_path: path = request.path, received_query = request.query, query } = request;
  switch (part) {
    case "uri":
      return { part: "http.request.uri", name: "", value: joinUri(path, received_query) };
    case "path":
      return { part: "http.request.uri.path", name: "", value: path };
    case "query":
      return { part: "http.request.uri.query", name: "", value: query };
    case "method":
      return { part: "http.request.method", name: "", value: request.method };
    case "host":
      return { part: "http.host", name: "", value: request.host };
    case "body-size":
      return { part: "http.request.body.size", name: "", value: String(request.body?.size ?? 0) };
    default: {
      const name = part.slice("header:".length);
      return { part: "http.request.headers", name, value: request.headers(name).join(", ") };
    }
  }
}

/** The part in which a managed rule matched. */
export interface Matched {
  /** The field of expressions, and the name within it; empty without a name. */
  readonly part: string;
  readonly name: string;
  /** As the rule reads it, decoded and in lower case; its beginning. */
  readonly value: string;
}
