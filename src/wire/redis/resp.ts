/** A reply of a Redis server in RESP 2. Maps, doubles and the other types of RESP 3 must be requested by clients, and we do not. */
export type RedisReply = string | number | null | RedisError | readonly RedisReply[];

/** An error reply, such as `MOVED 3999 127.0.0.1:6381`. */
export class RedisError extends Error {}

/** A command as an array of bulk strings. */
export function encodeCommand(parts: readonly (string | number)[]): string {
  let text = `*${parts.length}\r\n`;
  for (const part of parts) {
    const value = String(part);
    text += `$${Buffer.byteLength(value)}\r\n${value}\r\n`;
  }
  return text;
}

/** Reads replies from pieces of a stream, in their order. Throws RedisError if the stream is not RESP, or a reply is too large. */
export function createReplyReader(onReply: (reply: RedisReply) => void): (chunk: Uint8Array) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    // few: a reply has 64 KiB at most
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const found = readReply(rest, at, 0);
      if (found === null) break;
      at = found.end;
      onReply(found.reply);
    }
    rest = rest.subarray(at);
    if (rest.length > REPLY_BYTES_MAX) throw new RedisError("a reply is too large");
  };
}

const REPLY_BYTES_MAX = 64 * 1024;
const ITEMS_MAX = 1_024;
const DEPTH_MAX = 4;
const CR = 0x0d;

interface Found {
  readonly reply: RedisReply;
  readonly end: number;
}

/** Null while it is incomplete. */
function readReply(bytes: Buffer, from: number, depth: number): Found | null {
  const lineEnd = bytes.indexOf("\r\n", from, "latin1");
  if (lineEnd < 0) return null;
  const end = lineEnd + 2;
  const text = bytes.toString("utf8", from + 1, lineEnd);
  switch (bytes.toString("latin1", from, from + 1)) {
    case "+":
      return { reply: text, end };
    case "-":
      return { reply: new RedisError(text), end };
    case ":":
      return { reply: numberOf(text), end };
    case "$":
      return readText(bytes, numberOf(text), end);
    case "*":
      return readItems(bytes, numberOf(text), end, depth);
    default:
      throw new RedisError("the server does not speak the protocol of Redis");
  }
}

function readText(bytes: Buffer, length: number, from: number): Found | null {
  if (length < 0) return { reply: null, end: from };
  if (length > REPLY_BYTES_MAX) throw new RedisError("a reply is too large");
  const end = from + length + 2;
  if (bytes.length < end) return null;
  if (bytes[end - 2] !== CR) throw new RedisError("a reply is damaged");
  return { reply: bytes.toString("utf8", from, from + length), end };
}

function readItems(bytes: Buffer, count: number, from: number, depth: number): Found | null {
  if (count < 0) return { reply: null, end: from };
  if (count > ITEMS_MAX || depth >= DEPTH_MAX) throw new RedisError("a reply is too large");
  const items: RedisReply[] = [];
  let end = from;
  for (let index = 0; index < count; index++) {
    const found = readReply(bytes, end, depth + 1);
    if (found === null) return null;
    items.push(found.reply);
    end = found.end;
  }
  return { reply: items, end };
}

function numberOf(text: string): number {
  if (!/^-?\d{1,16}$/.test(text)) throw new RedisError("a reply is damaged");
  return Number(text);
}
