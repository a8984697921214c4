const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Header fields of the connection or of message framing (RFC 9110 §7.6.1). */
const FORBIDDEN = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "keep-alive",
]);

/** Whether a configured header field can be added to requests. */
export const isSendable = (name: string, value: string): boolean =>
  FIELD_NAME.test(name) && !FORBIDDEN.has(name.toLowerCase()) && /^[\x20-\x7e]*$/.test(value);
