import { createHmac, timingSafeEqual } from "node:crypto";
import { DELIVERY_PATH } from "#kernel/net/image-urls.ts";

const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * Whether one of the keys signed the URL: `sig` is the HMAC-SHA-256 of the path, `?` and the query without `sig`, in hexadecimal.
 * The path may be signed with or without its first two parts. `exp`, in seconds, ends the URL; absent: it does not end.
 */
export function isSigned(path: string, query: string, keys: readonly string[], nowMs: number): boolean {
  const parameters = new URLSearchParams(query);
  const given = parameters.getAll("sig");
  const ends = parameters.getAll("exp");
  if (given.length !== 1 || ends.length > 1 || !SIGNATURE.test(given[0] ?? "")) return false;
  const [end] = ends;
  if (end !== undefined && (!/^\d{1,12}$/.test(end) || Number(end) * 1000 <= nowMs)) return false;
  parameters.delete("sig");
  const signature = Buffer.from(given[0] ?? "", "hex");
  const paths = [path, path.slice(DELIVERY_PATH.length - 1)];
  return keys.some((key) =>
    paths.some((signed) => timingSafeEqual(createHmac("sha256", key).update(`${signed}?${parameters}`).digest(), signature)),
  );
}

/** Seconds until the URL ends; null if it does not. */
export function secondsLeft(query: string, nowMs: number): number | null {
  const end = new URLSearchParams(query).get("exp");
  return end === null ? null : Math.max(0, Math.floor(Number(end) - nowMs / 1000));
}
