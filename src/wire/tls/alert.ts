/** Why a server ends a handshake (RFC 8446 §6). */
const ALERTS = {
  /** There is nothing to shake hands with. */
  handshake_failure: 40,
  decode_error: 50,
  /** The client names no server, and this one has nothing to show to those (RFC 8446 §9.2). */
  missing_extension: 109,
  unrecognized_name: 112,
} as const;

const FATAL = 2;

/** A fatal alert as it is sent before anything is encrypted, as one record. */
export const fatalAlert = (name: keyof typeof ALERTS): Buffer => Buffer.from([21, 3, 3, 0, 2, FATAL, ALERTS[name]]);
