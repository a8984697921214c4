/** The cookie with the secret of a browser's session with the management API. */
export const SESSION_COOKIE = "selvedge";

/** RFC 6265bis §4.1.3.2: a browser accepts a cookie of this name only over TLS, from this host, and for all of its paths. */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
