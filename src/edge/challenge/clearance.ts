import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/**
 * Who has passed a challenge, without remembering anybody: what a visitor is given is signed, and counts for that
 * visitor's address and browser, in one zone, for a time. All threads of an edge sign with the same key.
 */
export interface Clearance {
  /** Whether the visitor's cookie says so. */
  has(exchange: Exchange): boolean;
  /** What a visitor has to find a number for. */
  task(exchange: Exchange): string;
  /** The cookie for a visitor who has found one, as the value of Set-Cookie; null where the answer is wrong or late. */
  redeem(exchange: Exchange, task: string, answer: string): string | null;
}

/** So many leading bits of a SHA-256 are zero: 65,536 tries at the median, which take a browser less than a second. */
export const ZERO_BITS = 16;
const CLEARED_MS = 1_800_000;
const TASK_MS = 300_000;
const COOKIES_MAX = 100;

export function createClearance(deps: { readonly key: Uint8Array; readonly clock: Clock; readonly vendorPrefix: string }): Clearance {
  const { key, clock } = deps;
  const cookieName = `${deps.vendorPrefix}_clearance`;

  const mac = (purpose: string, facts: string, { zone, client_ip, user_agent }: Exchange): string =>
    createHmac("sha256", key)
      .update([purpose, facts, zone?.entry.id ?? "", client_ip, user_agent].join("\n"), "latin1")
      .digest("base64url");

  /** `facts` begin with the time, in base 36, until which they count. */
  const sign = (purpose: string, facts: string, exchange: Exchange): string => `${facts}.${mac(purpose, facts, exchange)}`;

  const isSigned = (purpose: string, text: string, longestMs: number, exchange: Exchange): boolean => {
    const end = text.lastIndexOf(".");
    const facts = text.slice(0, end);
    const leftMs = Number.parseInt(facts, 36) - clock.nowMs();
    // What would count for longer than anything that is given out was signed by a clock that was ahead.
    if (end < 0 || !(leftMs > 0 && leftMs <= longestMs)) return false;
    const expected = Buffer.from(mac(purpose, facts, exchange));
    const given = Buffer.from(text.slice(end + 1), "latin1");
    return given.length === expected.length && timingSafeEqual(given, expected);
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
