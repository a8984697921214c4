/** A whole response, still without the EDNS options for this client. */
export interface Reply {
  readonly bytes: Buffer;
  /** Including the upper bits in the OPT record (RFC 6891 §6.1.3). */
  readonly rcode: number;
  /** Offset of the OPT record, which is the last record; 0 without one. */
  readonly optStart: number;
  /** Class for response rate limiting (response-class.ts). */
  readonly sort: number;
}
