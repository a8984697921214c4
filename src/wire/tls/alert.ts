/** Why a server ends a handshake (RFC 8446 §6). */
const ALERTS = {
  /** The server has no certificate or parameters for the handshake. */
  handshake_failure: 40,
  decode_error: 50,
  /** The client sends no server name, and the server has no default certificate (RFC 8446 §9.2). */
  missing_extension: 109,
  unrecognized_name: 112,
} as const;

const FATAL = 2;

/** A fatal alert as one unencrypted record. */
export const fatalAlert = (name: keyof typeof ALERTS): Buffer => Buffer.from([21, 3, 3, 0, 2, FATAL, ALERTS[name]]);
