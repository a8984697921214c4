/** Frame types (RFC 9113 §6). */
export const DATA = 0x0;
export const HEADERS = 0x1;
export const PRIORITY = 0x2;
export const RST_STREAM = 0x3;
export const SETTINGS = 0x4;
export const PUSH_PROMISE = 0x5;
export const PING = 0x6;
export const GOAWAY = 0x7;
export const WINDOW_UPDATE = 0x8;
export const CONTINUATION = 0x9;

/** Flags; their meaning depends on the type of the frame. */
export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const WITH_PRIORITY = 0x20;

/** Settings (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1). */
export const SETTING = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
  enableConnectProtocol: 0x8,
  noRfc7540Priorities: 0x9,
} as const;

/** Error codes (RFC 9113 §7). */
export const ERROR = {
  none: 0x0,
  protocol: 0x1,
  internal: 0x2,
  flowControl: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSize: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compression: 0x9,
  enhanceYourCalm: 0xb,
} as const;

export type ErrorCode = (typeof ERROR)[keyof typeof ERROR];

export const FRAME_HEAD_BYTES = 9;
/** The largest payload that every peer accepts, and the largest that we accept or send (RFC 9113 §4.2). */
export const FRAME_BYTES_MAX = 16_384;
/** Initial windows of a connection and of each stream, in both directions (RFC 9113 §6.9.2). */
export const WINDOW_BYTES_DEFAULT = 65_535;
export const WINDOW_BYTES_MAX = 0x7fff_ffff;

/** Ends a connection: the other side broke a rule that all its streams depend on (RFC 9113 §5.4.1). */
export class ConnectionFault extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, reason: string) {
    super(reason);
    this.code = code;
  }
}
