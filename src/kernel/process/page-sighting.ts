/** A script, connection or cookie of a page that the edge has seen, without queries and values. */
export type PageSighting = SeenResource | SeenCookie;

interface Seen {
  readonly zone_id: string;
  /** Unix milliseconds. */
  readonly at_ms: number;
  /** Of the resource, or of the page that sets the cookie. */
  readonly host: string;
  readonly page_url: string;
}

/** A script, or the other end of a connection, by its URL. */
export interface SeenResource extends Seen {
  readonly kind: "script" | "connection";
  readonly url: string;
}

export interface SeenCookie extends Seen {
  readonly kind: "cookie";
  readonly name: string;
  readonly attributes: CookieAttributes;
}

/** RFC 6265 §5.3, without the value. */
export interface CookieAttributes {
  readonly domain?: string;
  readonly path?: string;
  /** ISO 8601. */
  readonly expires?: string;
  readonly max_age?: number;
  readonly secure: boolean;
  readonly http_only: boolean;
  readonly same_site?: "lax" | "strict" | "none";
}
