import { hash } from "node:crypto";
import type { Head } from "#wire/http/parsed-head.ts";

const ACCEPT = "sec-websocket-accept";
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** True if a head that switches protocols answers this key, exactly once (RFC 6455 §4.1). */
export function acceptsWebSocket(buffer: Buffer, head: Head, key: string): boolean {
  const values: string[] = [];
  for (let index = 0; index < head.fieldCount; index++)
    if (head.name(buffer, index).toLowerCase() === ACCEPT) values.push(head.value(buffer, index));
  return values.length === 1 && values[0] === hash("sha1", key + ACCEPT_GUID, "base64");
}
