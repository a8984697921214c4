/** A whole response, still without the EDNS options that are this client's own. */
export interface Reply {
  readonly bytes: Buffer;
  /** With the upper bits, which the OPT record carries (RFC 6891 §6.1.3). */
  readonly rcode: number;
  /** Where the OPT record starts, which is the last one; 0 where there is none. */
  readonly optStart: number;
  /** What is limited together with it (rate-sorts.ts). */
  readonly sort: number;
}
