/** As much of a ClientHello (RFC 8446 §4.1.2) as decides who answers it. */
export interface ClientHello {
  /** As sent; null where the client names no server (RFC 6066 §3). */
  readonly serverName: string | null;
  /** What the session tickets begin with that the client offers: the names of the keys they are sealed with (RFC 5077 §4). */
  readonly ticketKeyNames: readonly Buffer[];
}

/** More bytes than any client sends: those with the largest key shares and several tickets need some 5,000. */
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
 * Reads the first flight of a TLS client, which may come in several records. `incomplete` where more bytes are needed,
 * `malformed` where no TLS stack could go on with it; what else is wrong with it is left to the TLS stack.
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

/** The handshake message without its four bytes of head. */
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

/** Throws RangeError where a length leads past the end. */
function parse(message: Buffer): ClientHello {
  const reader = new Reader(message);
  reader.take(2 + 32);
  reader.take(reader.uint8());
  reader.take(reader.uint16());
  reader.take(reader.uint8());
  const ticketKeyNames: Buffer[] = [];
  let serverName: string | null = null;
  // TLS 1.2 allows a hello without extensions.
  const extensions = new Reader(reader.isAtEnd ? Buffer.alloc(0) : reader.take(reader.uint16()));
  if (!reader.isAtEnd) throw new RangeError("bytes after the extensions");
  while (!extensions.isAtEnd) {
    const type = extensions.uint16();
    const body = extensions.take(extensions.uint16());
    if (type === SERVER_NAME) {
      if (serverName !== null) throw new RangeError("two lists of names");
      serverName = hostName(new Reader(body));
    } else if (type === SESSION_TICKET && body.length > TICKET_KEY_NAME_BYTES) ticketKeyNames.push(body.subarray(0, TICKET_KEY_NAME_BYTES));
    else if (type === PRE_SHARED_KEY) ticketKeyNames.push(...identities(new Reader(body)));
  }
  return { serverName, ticketKeyNames };
}

/** The list has one name: there is one kind of name, and no two of a kind (RFC 6066 §3). */
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
    list.take(4);
    if (identity.length > TICKET_KEY_NAME_BYTES) names.push(identity.subarray(0, TICKET_KEY_NAME_BYTES));
  }
  return names;
}

/** Takes bytes from the front; RangeError where there are too few. */
class Reader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  uint8(): number {
    return this.take(1).readUInt8();
  }

  uint16(): number {
    return this.take(2).readUInt16BE();
  }

  take(count: number): Buffer {
    if (this.at + count > this.bytes.length) throw new RangeError("a length leads past the end");
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
}
