import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidDestination } from "./destination.ts";

/** Replaces stored secrets in responses; sent back, it keeps the stored value. */
const HIDDEN = "********";

/** The displayed destination. For URLs it hides the values of all parameters, because each may be a secret. */
export function redactedDestination(text: string): string {
  const [address = "", query] = splitQuery(text);
  if (query === undefined) return address;
  return `${address}?${query
    .split("&")
    .map((pair) => (isShown(address, pair) ? pair : `${pair.slice(0, pair.indexOf("="))}=${HIDDEN}`))
    .join("&")}`;
}

const OF_BUCKETS = /^(region|endpoint|sse)=/;
const isShown = (address: string, pair: string): boolean => !pair.includes("=") || (address.startsWith("s3://") && OF_BUCKETS.test(pair));

/** The destination with hidden values replaced by the stored ones. Throws `logpush_invalid` if one is not stored. */
export function restoredDestination(text: string, before: string): string {
  const [address = "", query] = splitQuery(text);
  if (query === undefined || !query.includes(HIDDEN)) return text;
  const [addressBefore = "", queryBefore = ""] = splitQuery(before);
  const known = new Map(queryBefore.split("&").map((pair) => [pair.split("=", 1)[0], pair]));
  const pairs = query.split("&").map((pair) => {
    if (!pair.endsWith(`=${HIDDEN}`)) return pair;
    const name = pair.slice(0, -HIDDEN.length - 1);
    // Secrets of one receiver are not sent to another.
    const kept = address === addressBefore ? known.get(name) : undefined;
    if (kept === undefined) throw invalidDestination(`has no stored value of ${name}: send the value`);
    return kept;
  });
  return `${address}?${pairs.join("&")}`;
}

/** Whether both destinations are the same place, ignoring secrets. */
export const isSameDestination = (one: string, other: string): boolean => splitQuery(one)[0] === splitQuery(other)[0];

/** A token that proves to a reader of the destination that this installation wrote there for the account. */
export const ownershipToken = (key: Uint8Array, accountId: string, destination: string): string =>
  createHmac("sha256", key)
    .update(`${accountId} ${splitQuery(destination)[0] ?? ""}`)
    .digest("hex")
    .slice(0, 40);

export const isOwnershipToken = (given: string, expected: string): boolean =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

function splitQuery(text: string): readonly [string, string?] {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
