import { rememberLast } from "#rules/text/memo.ts";
import { formatHttpDate } from "#wire/http/http-date.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "./exchange.ts";
import { touches } from "#edge/http/header-edits.ts";

/**
 * The Date line for a response without one: the time at which it arrived (RFC 9110 §6.6.1). Empty if the response has a
 * Date, or if a rule edits that field.
 */
export function receivedDate(head: Head, { at_ms: atMs, originTtfbMs = 0, responseEdits: edits }: Exchange): string {
  if (head.dateIndex >= 0 || (edits !== null && touches(edits, "date"))) return "";
  return dateOfSecond(Math.floor((atMs + originTtfbMs) / 1000));
}

/** Most responses arrive in the same second as the one before. */
const dateOfSecond = rememberLast((second: number): string => formatHttpDate(second * 1000));
