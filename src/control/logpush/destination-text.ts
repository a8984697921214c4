import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidDestination } from "./destination.ts";

/** Stands for a value that is kept and never shown again; sent back, it keeps what is there. */
const HIDDEN = "********";

/** As it is shown: of an address no value of a parameter, since any may be a secret; of a bucket where it is. */
export function shownDestination(text: string): string {
  const [address = "", query] = splitQuery(text);
  if (query === undefined) return address;
  return `${address}?${query
    .split("&")
    .map((pair) => (isShown(address, pair) ? pair : `${pair.slice(0, pair.indexOf("="))}=${HIDDEN}`))
    .join("&")}`;
}

const OF_BUCKETS = /^(region|endpoint|sse)=/;
const isShown = (address: string, pair: string): boolean => !pair.includes("=") || (address.startsWith("s3://") && OF_BUCKETS.test(pair));

/** What is written with the values in place that were sent back hidden. Throws `logpush_invalid` where one was never there. */
export function restoredDestination(text: string, before: string): string {
  const [address = "", query] = splitQuery(text);
  if (query === undefined || !query.includes(HIDDEN)) return text;
  const [addressBefore = "", queryBefore = ""] = splitQuery(before);
  const known = new Map(queryBefore.split("&").map((pair) => [pair.split("=", 1)[0], pair]));
  const pairs = query.split("&").map((pair) => {
    if (!pair.endsWith(`=${HIDDEN}`)) return pair;
    const name = pair.slice(0, -HIDDEN.length - 1);
    // What belongs to one receiver is not for another.
    const kept = address === addressBefore ? known.get(name) : undefined;
    if (kept === undefined) throw invalidDestination(`has no stored value of ${name}: send the value`);
    return kept;
  });
  return `${address}?${pairs.join("&")}`;
}

/** Whether two of them name the same place, whatever the secrets. */
export const isSamePlace = (one: string, other: string): boolean => splitQuery(one)[0] === splitQuery(other)[0];

/** What proves to whoever can read the destination that this installation wrote there for the account. */
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
