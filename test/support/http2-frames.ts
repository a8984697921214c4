import { connect, type TLSSocket } from "node:tls";
import { PATIENCE_MS } from "./eventually.ts";

/** Frame types of RFC 9113 §6. */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
const ACK = 0x1;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export type Field = readonly [name: string, value: string];

/**
 * An HTTP/2 client that writes any frames, allowed or not. It acknowledges settings and nothing else; without its own
 * settings, not even those.
 */
export interface FrameClient {
  readonly socket: TLSSocket;
  readonly frames: readonly Frame[];
  send(...frames: Buffer[]): void;
  /** Waits for a frame; rejects if the connection ended or at the timeout. */
  next(matches: (frame: Frame) => boolean): Promise<Frame>;
  /** Waits for any frame that has not come yet. */
  more(): Promise<void>;
  /** Waits until the connection is closed. */
  closed(): Promise<void>;
}

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ""): Buffer {
  const body = Buffer.from(payload as string, "latin1");
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** The whole frames in there. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    frames.push({
      type: bytes[at + 3]!,
      flags: bytes[at + 4]!,
      stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}

/** A header block in which every field is a literal that is never compressed (RFC 7541 §6.2.3). */
export const block = (fields: readonly Field[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0x10), literal(name), literal(value)]));

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push(128 + (rest % 128));
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** A request for `www.example.com`; the given fields follow the pseudo-header fields. */
export const request = (stream: number, fields: readonly Field[] = [], endStream = true, pseudo: readonly Field[] = GET): Buffer =>
  frame(FRAME.HEADERS, END_HEADERS | (endStream ? END_STREAM : 0), stream, block([...pseudo, ...fields]));

export const GET: readonly Field[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":authority", "www.example.com"],
  [":path", "/"],
];
export const POST: readonly Field[] = [[":method", "POST"], ...GET.slice(1)];

export async function frameClient(port: number, ca: string, settings: Buffer | string | null = ""): Promise<FrameClient> {
  const socket = connect({ port, host: "127.0.0.1", servername: "www.example.com", ca, ALPNProtocols: ["h2"] });
  const frames: Frame[] = [];
  const listeners = new Set<() => void>();
  let isClosed = false;
  let bytes = Buffer.alloc(0);
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
    changed();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("close", () => reject(new Error("no handshake")));
  });
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3);
      const got: Frame = { type: bytes[3]!, flags: bytes[4]!, stream: bytes.readUInt32BE(5) & 0x7fffffff, payload: bytes.subarray(9, end) };
      bytes = bytes.subarray(end);
      frames.push(got);
      if (settings !== null && got.type === FRAME.SETTINGS && (got.flags & ACK) === 0) socket.write(frame(FRAME.SETTINGS, ACK, 0));
    }
    changed();
  });
  const wait = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(limit);
        listeners.delete(attempt);
      };
      const limit = setTimeout(() => {
        end();
        reject(new Error(`it did not come: ${frames.map(({ type, stream }) => `${type}:${stream}`).join(" ")}`));
      }, PATIENCE_MS);
      const attempt = (): void => {
        const found = look();
        if (found !== undefined) {
          end();
          resolve(found);
        } else if (isClosed) {
          end();
          reject(new Error("the connection ended"));
        }
      };
      listeners.add(attempt);
      attempt();
    });
  socket.write(PREFACE);
  if (settings !== null) socket.write(frame(FRAME.SETTINGS, 0, 0, settings));
  return {
    socket,
    frames,
    send: (...out) => void socket.write(Buffer.concat(out)),
    next: (matches) => wait(() => frames.find(matches)),
    more: () => {
      const { length } = frames;
      return wait(() => (frames.length > length ? true : undefined)).then(() => undefined);
    },
    closed: () => wait(() => (isClosed ? true : undefined)).then(() => undefined),
  };
}
