import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/**
 * Tells which visitors have passed a challenge, without storing anything: visitors keep a signed cookie, valid for their
 * address (unless the zone has `privacy_pass`) and browser, in one zone, for a time. All threads of an edge sign with the same key.
 */
export interface Clearance {
  /** True if the visitor's cookie is valid. */
  has(exchange: Exchange): boolean;
  /** The task for which the visitor's browser has to find a number. */
  task(exchange: Exchange): string;
  /** The cookie for a visitor with a right answer, as the value of Set-Cookie; null if the answer is wrong or late. */
  redeem(exchange: Exchange, task: string, answer: string): string | null;
}

/** Leading zero bits of the SHA-256: 65,536 tries on average, which take a browser less than a second. */
export const ZERO_BITS = 16;
const CLEARED_MS = 1_800_000;
const TASK_MS = 300_000;
const COOKIES_MAX = 100;

export function createClearance(deps: { keys(): readonly Uint8Array[]; readonly clock: Clock; readonly vendorPrefix: string }): Clearance {
  const { clock } = deps;
  const cookieName = `${deps.vendorPrefix}_clearance`;

  const mac = (key: Uint8Array, purpose: string, facts: string, { zone, client_ip, user_agent, settings }: Exchange): string => {
    // The setting `privacy_pass`: visitors whose address changes pass once. The purpose differs, so that no cookie of one kind is one of the other.
    const bound = settings.privacy_pass
      ? [`${purpose} anywhere`, facts, zone?.entry.id ?? ""]
      : [purpose, facts, zone?.entry.id ?? "", client_ip];
    return createHmac("sha256", key)
      .update([...bound, user_agent].join("\n"), "latin1")
      .digest("base64url");
  };

  /** `facts` begin with the time until which they are valid, in base 36. */
  const sign = (purpose: string, facts: string, exchange: Exchange): string => `${facts}.${mac(deps.keys()[0]!, purpose, facts, exchange)}`;

  const isSigned = (purpose: string, text: string, longestMs: number, exchange: Exchange): boolean => {
    const end = text.lastIndexOf(".");
    const facts = text.slice(0, end);
    const leftMs = Number.parseInt(facts, 36) - clock.nowMs();
    // A validity longer than any that we give comes from a clock that was ahead.
    if (end < 0 || !(leftMs > 0 && leftMs <= longestMs)) return false;
    const given = Buffer.from(text.slice(end + 1), "latin1");
    return deps.keys().some((key) => {
      const expected = Buffer.from(mac(key, purpose, facts, exchange));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  };

  return {
    has: (exchange) => {
      const cookies = exchange.headers("cookie").flatMap((line) => line.split(";", COOKIES_MAX));
      const own = cookies.map((cookie) => cookie.trim()).filter((cookie) => cookie.startsWith(`${cookieName}=`));
      return own.some((cookie) => isSigned("clearance", cookie.slice(cookieName.length + 1), CLEARED_MS, exchange));
    },
    task: (exchange) => sign("challenge", `${(clock.nowMs() + TASK_MS).toString(36)}.${exchange.ray_id}`, exchange),
    redeem: (exchange, task, answer) => {
      if (!isSigned("challenge", task, TASK_MS, exchange) || !solves(task, answer)) return null;
      const value = sign("clearance", (clock.nowMs() + CLEARED_MS).toString(36), exchange);
      const secure = exchange.scheme === "https" ? "; Secure" : "";
      return `${cookieName}=${value}; Path=/; Max-Age=${CLEARED_MS / 1000}; HttpOnly; SameSite=Lax${secure}`;
    },
  };
}

const solves = (task: string, answer: string): boolean =>
  /^\d{1,10}$/.test(answer) &&
  createHash("sha256").update(`${task}:${answer}`, "latin1").digest().readUInt32BE() >>> (32 - ZERO_BITS) === 0;
