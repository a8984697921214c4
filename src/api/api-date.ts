import type { DatePins } from "#control/call.ts";
import { type Clock, isoDate, type IsoDate, parseIsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

export interface ApiDateConfig {
  /** Pins the day of the interface; null follows the clock. */
  readonly asOf: IsoDate | null;
  /** Whether a request may choose its day with the `api-version` header. */
  readonly negotiate: boolean;
  /** Whether the pin of a token or account restores interfaces that ended for safety; false by default. */
  readonly unsafePins?: boolean;
}

/** The day of the interface for a request. */
export interface ApiDay {
  readonly date: IsoDate;
  /** The same for rows that protect something. */
  readonly safe: IsoDate;
  /** Whether the request has chosen it. */
  readonly isNegotiated: boolean;
}

/** The admitted caller, with the data that determines the day. */
export interface Pinned {
  readonly call: { readonly actor: { readonly pins?: DatePins; readonly session_id?: string } };
  readonly resolved: { readonly account: { readonly api_date: IsoDate | null } | null };
}

/**
 * Determines the day of the interface for a request (SPEC 9): from its header, its token, its account or the operator, in
 * this order.
 */
export interface ApiDate {
  /** Before the caller is known. Throws `invalid_input` for a header that is not a day, if headers count. */
  of(header: string | string[] | undefined): ApiDay;
  /** Afterwards. The account is the one that the path names, otherwise the one that owns the token. */
  pinned(day: ApiDay, admitted: Pinned): ApiDay;
  /** The operator's day. */
  standard(): IsoDate;
  /** The clock's day, regardless of the interface's day. */
  today(): IsoDate;
}

const DAY_MS = 86_400_000;

/** Reads `config` at each call, because it may change at runtime. */
export function createApiDate(config: ApiDateConfig, clock: Clock): ApiDate {
  let day = Number.NaN;
  let text: IsoDate = isoDate(0);
  const today = (): IsoDate => {
    const now = Math.floor(clock.nowMs() / DAY_MS);
    if (now !== day) {
      day = now;
      text = isoDate(now * DAY_MS);
    }
    return text;
  };
  const standard = (): IsoDate => config.asOf ?? today();
  return {
    standard,
    today,
    of: (header) => {
      if (!config.negotiate || header === undefined) {
        const date = standard();
        return { date, safe: date, isNegotiated: false };
      }
      const date = typeof header === "string" ? parseIsoDate(header.trim()) : undefined;
      if (!date) throw new PlatformError("invalid_input", { message: "The api-version header must be a date such as 2024-05-01." });
      return { date, safe: date, isNegotiated: true };
    },
    pinned: (before, { call: { actor }, resolved }) => {
      // The dashboard belongs to this version: it asks for the operator's default interface.
      if (before.isNegotiated || actor.session_id !== undefined) return before;
      const date = actor.pins?.token ?? (resolved.account === null ? actor.pins?.account : resolved.account.api_date);
      if (date === undefined || date === null) return before;
      return { date, safe: config.unsafePins === true || date > before.date ? date : before.date, isNegotiated: false };
    },
  };
}
