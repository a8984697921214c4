/** The parts of a ClientHello (RFC 8446 §4.1.2) that decide which thread answers it. */
export interface ClientHello {
  /** As sent; null if the client sends no server name (RFC 6066 §3). */
  readonly serverName: string | null;
  /** The names of the ticket keys, with which the client's session tickets begin (RFC 5077 §4). */
  readonly ticketKeyNames: readonly Buffer[];
}

/** Larger than any client's: those with the largest key shares and several tickets need about 5,000 bytes. */
export const CLIENT_HELLO_BYTES_MAX = 16_384;
export const TICKET_KEY_NAME_BYTES = 16;

const RECORD_HEADER_BYTES = 5;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
const SESSION_TICKET = 35;
const PRE_SHARED_KEY = 41;
const TICKETS_MAX = 4;

/**
 * Reads the first flight of a TLS client, which may consist of several records. `incomplete`: more bytes are needed;
 * `malformed`: no TLS stack could continue. The TLS stack detects other errors.
 */
export function readClientHello(bytes: Buffer): ClientHello | "incomplete" | "malformed" {
  const message = joinRecords(bytes);
  if (typeof message === "string") return message;
  try {
    return parse(message);
  } catch (error) {
    if (error instanceof RangeError) return "malformed";
    throw error;
  }
}

/** The handshake message without its header of four bytes. */
function joinRecords(bytes: Buffer): Buffer | "incomplete" | "malformed" {
  const fragments: Buffer[] = [];
  let length = 0;
  for (let at = 0; ;) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE) return "malformed";
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return "malformed";
    if (bytes.length < at + RECORD_HEADER_BYTES) return tooLong(bytes) ? "malformed" : "incomplete";
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > CLIENT_HELLO_BYTES_MAX) return "malformed";
    const fragment = bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + size);
    fragments.push(fragment);
    length += fragment.length;
    const message = fragments.length === 1 ? fragment : Buffer.concat(fragments, length);
    if (message.length >= 1 && message[0] !== CLIENT_HELLO) return "malformed";
    if (message.length >= 4) {
      const expected = 4 + message.readUIntBE(1, 3);
      if (expected > CLIENT_HELLO_BYTES_MAX) return "malformed";
      if (message.length >= expected && fragment.length === size) return message.subarray(4, expected);
    }
    if (fragment.length < size) return tooLong(bytes) ? "malformed" : "incomplete";
    at += RECORD_HEADER_BYTES + size;
    if (fragments.length > RECORDS_MAX) return "malformed";
  }
}

const RECORDS_MAX = 16;
const tooLong = (bytes: Buffer): boolean => bytes.length > CLIENT_HELLO_BYTES_MAX + RECORDS_MAX * RECORD_HEADER_BYTES;

/** Throws RangeError if a length exceeds the message. */
function parse(message: Buffer): ClientHello {
  const reader = new Reader(message);
  reader.skip(2 + 32);
  reader.skip(reader.uint8());
  reader.skip(reader.uint16());
  reader.skip(reader.uint8());
  const ticketKeyNames: Buffer[] = [];
  let serverName: string | null = null;
  // TLS 1.2 allows a hello without extensions.
  if (!reader.isAtEnd && reader.uint16() !== reader.length) throw new RangeError("not one list of extensions");
  while (!reader.isAtEnd) {
    const type = reader.uint16();
    const length = reader.uint16();
    // Other extensions are skipped without creating a view.
    if (type === SERVER_NAME) {
      if (serverName !== null) throw new RangeError("two lists of names");
      serverName = hostName(new Reader(reader.take(length)));
    } else if (type === SESSION_TICKET && length > TICKET_KEY_NAME_BYTES) {
      ticketKeyNames.push(reader.take(length).subarray(0, TICKET_KEY_NAME_BYTES));
    } else if (type === PRE_SHARED_KEY) ticketKeyNames.push(...identities(new Reader(reader.take(length))));
    else reader.skip(length);
  }
  return { serverName, ticketKeyNames };
}

/** The list has one name: only one type of name exists, and each type occurs once (RFC 6066 §3). */
function hostName(list: Reader): string {
  const names = new Reader(list.take(list.uint16()));
  if (names.uint8() !== HOST_NAME) throw new RangeError("a name of another kind");
  const name = names.take(names.uint16());
  if (!list.isAtEnd || !names.isAtEnd || name.length === 0) throw new RangeError("not one name");
  return name.toString("latin1");
}

function identities(body: Reader): Buffer[] {
  const list = new Reader(body.take(body.uint16()));
  const names: Buffer[] = [];
  while (!list.isAtEnd && names.length < TICKETS_MAX) {
    const identity = list.take(list.uint16());
    list.skip(4);
    if (identity.length > TICKET_KEY_NAME_BYTES) names.push(identity.subarray(0, TICKET_KEY_NAME_BYTES));
  }
  return names;
}

/** Reads bytes sequentially; throws RangeError at the end. */
class Reader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  /** Number of remaining bytes. */
  get length(): number {
    return this.bytes.length - this.at;
  }

  uint8(): number {
    this.skip(1);
    return this.bytes[this.at - 1]!;
  }

  uint16(): number {
    this.skip(2);
    return (this.bytes[this.at - 2]! << 8) | this.bytes[this.at - 1]!;
  }

  take(count: number): Buffer {
    this.skip(count);
    return this.bytes.subarray(this.at - count, this.at);
  }

  skip(count: number): void {
    if (count > this.length) throw new RangeError("a length leads past the end");
    this.at += count;
  }
}
