/** The cookie that holds the secret of a browser's session with the management API. */
export const SESSION_COOKIE = "selvedge";

/** RFC 6265bis §4.1.3.2: a browser takes a cookie of this name only over TLS, from this host, for all of it. */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
