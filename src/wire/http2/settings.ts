import { ConnectionFault, ERROR, FRAME_BYTES_MAX, SETTING, WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MAX } from "./codes.ts";

/** The settings of a client that we use (RFC 9113 §6.5.2). */
export interface PeerSettings {
  headerTableBytes: number;
  /** The smallest size in the frame, which a later value may raise again: an encoder must announce both (RFC 7541 §4.2). */
  headerTableBytesLeast: number;
  /** Initial window of each of its streams, in bytes. */
  windowBytes: number;
}

export const peerSettings = (): PeerSettings => ({
  headerTableBytes: 4096,
  headerTableBytesLeast: 4096,
  windowBytes: WINDOW_BYTES_DEFAULT,
});

const FRAME_BYTES_LIMIT = 0xff_ffff;

/** Reads the payload of a SETTINGS frame. The last value of each setting counts. Throws `ConnectionFault`. */
export function readSettings(buffer: Buffer, start: number, end: number, settings: PeerSettings): void {
  settings.headerTableBytesLeast = settings.headerTableBytes;
  for (let at = start; at < end; at += 6) {
    const value = buffer.readUInt32BE(at + 2);
    switch (buffer.readUInt16BE(at)) {
      case SETTING.headerTableSize:
        settings.headerTableBytes = value;
        settings.headerTableBytesLeast = Math.min(settings.headerTableBytesLeast, value);
        break;
      case SETTING.enablePush:
      case SETTING.enableConnectProtocol:
      case SETTING.noRfc7540Priorities:
        if (value > 1) throw new ConnectionFault(ERROR.protocol, "a setting is neither on nor off");
        break;
      case SETTING.initialWindowSize:
        if (value > WINDOW_BYTES_MAX) throw new ConnectionFault(ERROR.flowControl, "windows beyond their bound");
        settings.windowBytes = value;
        break;
      case SETTING.maxFrameSize:
        // We send no longer frames than every peer accepts, so the value is only checked.
        if (value < FRAME_BYTES_MAX || value > FRAME_BYTES_LIMIT) throw new ConnectionFault(ERROR.protocol, "a frame size out of bounds");
        break;
    }
  }
}
