/** RCODEs of RFC 1035 §4.1.1 and later registrations, under their usual names. */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  NOTAUTH: 9,
  BADVERS: 16,
  BADCOOKIE: 23,
} as const;

/** Extended errors (RFC 8914 §4), which explain an RCODE. */
export const EXTENDED_ERROR = {
  STALE_ANSWER: 3,
  NOT_READY: 14,
  PROHIBITED: 18,
  NOT_AUTHORITATIVE: 20,
  NOT_SUPPORTED: 21,
  INVALID_DATA: 24,
  NO_REACHABLE_AUTHORITY: 22,
  INVALID_QUERY_TYPE: 30,
} as const;

/** EDNS options that the server reads or writes. */
export const OPTION = { NSID: 3, COOKIE: 10, TCP_KEEPALIVE: 11, PADDING: 12, EXTENDED_ERROR: 15 } as const;

export const OPCODE = { QUERY: 0, NOTIFY: 4 } as const;

export const CLASS = { IN: 1, ANY: 255 } as const;

/** Types that the server treats specially. Types that are only stored are rows of record-types.ts. */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  MX: 15,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  CDS: 59,
  CDNSKEY: 60,
  SVCB: 64,
  HTTPS: 65,
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
} as const;

/** Bits of the header's second word. */
export const FLAG = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100, RA: 0x0080 } as const;

/** Bits of the last 16 bits of the OPT record's TTL (RFC 3225, RFC 9824 §5.1). */
export const EDNS_FLAG = { DO: 0x8000, CO: 0x4000 } as const;

/** The bits of the second word that contain the opcode. */
export const OPCODE_MASK = 0x7800;
export const opcodeOf = (flags: number): number => (flags & OPCODE_MASK) >> 11;

export const HEADER_BYTES = 12;
export const MESSAGE_BYTES_MAX = 65_535;
