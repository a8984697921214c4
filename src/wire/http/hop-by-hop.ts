import { COMMA, SPACE, spells, TAB, TOKEN } from "./bytes.ts";
import type { Head, HeadFault } from "./parsed-head.ts";

const OPTIONS_MAX = 32;

/** Fields that Connection must not list: without them, the next hop would frame or route the message differently. */
const NEVER_LISTED = new Set(["content-length", "transfer-encoding", "host", "connection", "trailer", "expect", "authorization"]);

/** Reads the options of a Connection field: close and keep-alive by RFC 9112 §9.3, others by §7.6.1 of RFC 9110. */
export function readConnection(buffer: Buffer, head: Head, index: number): HeadFault {
  head.dropped[index] = 1;
  const end = head.offsets[index * 4 + 3]!;
  let i = head.offsets[index * 4 + 2]!;
  for (let options = 0; options < OPTIONS_MAX; options++) {
    while (i < end && (buffer[i] === COMMA || isBlank(buffer[i]!))) i++;
    if (i === end) return 0;
    const start = i;
    while (i < end && TOKEN[buffer[i]!] === 1) i++;
    noteOption(buffer, head, start, i - start);
    while (i < end && isBlank(buffer[i]!)) i++;
    // Also for an empty token: only a comma or the end may follow.
    if (i < end && buffer[i] !== COMMA) return 400;
  }
  return 400;
}

const isBlank = (byte: number): boolean => byte === SPACE || byte === TAB;

function noteOption(buffer: Buffer, head: Head, start: number, length: number): void {
  if (length === 5 && spells(buffer, start, "close")) head.connectionClose = true;
  else if (length === 10 && spells(buffer, start, "keep-alive")) head.connectionKeepAlive = true;
  else if (length === 7 && spells(buffer, start, "upgrade")) head.connectionUpgrade = true;
  else head.connectionLists = true;
}

/** Drops the fields that Connection lists; refuses the message if it lists one that must stay. */
export function dropListedFields(buffer: Buffer, head: Head): HeadFault {
  const listed = new Set<string>();
  for (let index = 0; index < head.fieldCount; index++) {
    if (head.name(buffer, index).toLowerCase() !== "connection") continue;
    for (const option of head.value(buffer, index).toLowerCase().split(",")) listed.add(option.trim());
  }
  for (const name of listed) if (NEVER_LISTED.has(name)) return 400;
  for (let index = 0; index < head.fieldCount; index++) if (listed.has(head.name(buffer, index).toLowerCase())) head.dropped[index] = 1;
  return 0;
}

/** Names to exclude from forwarded heads, indexed by length. */
export interface FieldNames {
  readonly byLength: readonly (readonly string[])[];
}

/** Prepares lower-case names for `dropFields`. */
export function fieldNames(names: readonly string[]): FieldNames {
  const byLength: string[][] = Array.from({ length: Math.max(0, ...names.map((name) => name.length)) + 1 }, () => []);
  for (const name of names) byLength[name.length]!.push(name);
  return { byLength };
}

/**
 * Drops all fields with these names. An underscore equals a hyphen, because CGI-like origins map both spellings to the
 * same variable.
 */
export function dropFields(buffer: Buffer, head: Head, names: FieldNames): void {
  for (let index = 0; index < head.fieldCount; index++) {
    const start = head.offsets[index * 4]!;
    const candidates = names.byLength[head.offsets[index * 4 + 1]! - start];
    if (candidates === undefined) continue;
    for (const name of candidates) {
      if (spellsFolded(buffer, start, name)) {
        head.dropped[index] = 1;
        break;
      }
    }
  }
}

function spellsFolded(buffer: Buffer, offset: number, lower: string): boolean {
  for (let i = 0; i < lower.length; i++) {
    const byte = buffer[offset + i]!;
    if ((byte === 0x5f ? 0x2d : byte | 0x20) !== lower.charCodeAt(i)) return false;
  }
  return true;
}
