import { hash } from "node:crypto";
import type { Head } from "#wire/http/parsed-head.ts";

/** The protocol that a visitor wants to switch to. */
export interface WantedProtocol {
  /** The field Upgrade of the request. */
  readonly name: string;
  /** Its field Sec-WebSocket-Key, or empty. */
  readonly webSocketKey: string;
}

const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * True if a head with the status 101 switches to the protocol that was asked for (RFC 9110 §7.8), and proves a WebSocket
 * by its key, exactly once (RFC 6455 §4.1). Otherwise the origin may still speak HTTP, and would take requests from the
 * tunnel that passed no stage.
 */
export function switchesTo(buffer: Buffer, head: Head, { name, webSocketKey }: WantedProtocol): boolean {
  const wanted = name.toLowerCase();
  const [protocol, ...others] = valuesOf(buffer, head, "upgrade");
  if (protocol?.toLowerCase() !== wanted || others.length > 0) return false;
  return wanted !== "websocket" || acceptsWebSocket(buffer, head, webSocketKey);
}

/** The key of a request for a WebSocket; empty unless there is one. */
export function webSocketKeyOf(buffer: Buffer, head: Head): string {
  const keys = valuesOf(buffer, head, "sec-websocket-key");
  return keys.length === 1 ? (keys[0] ?? "") : "";
}

/** True if the origin's head answers this key. */
export function acceptsWebSocket(buffer: Buffer, head: Head, key: string): boolean {
  const values = valuesOf(buffer, head, "sec-websocket-accept");
  return key !== "" && values.length === 1 && values[0] === hash("sha1", key + ACCEPT_GUID, "base64");
}

function valuesOf(buffer: Buffer, head: Head, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < head.fieldCount; index++)
    if (head.name(buffer, index).toLowerCase() === name) values.push(head.value(buffer, index));
  return values;
}
