import { type Clock, isoDate, type IsoDate, parseIsoDate } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

export interface ApiDateConfig {
  /** Pins the day whose interface is shown; null follows the clock. */
  readonly asOf: IsoDate | null;
  /** Whether a request may choose its day with the `api-version` header. */
  readonly negotiate: boolean;
}

/** Which day's interface a request sees (SPEC 9). */
export interface ApiDate {
  /** Throws `invalid_input` for a header that is no day, where headers count. */
  of(header: string | string[] | undefined): IsoDate;
  /** Without a request's own wish. */
  standard(): IsoDate;
  /** The clock's day, whatever day's interface is shown. */
  today(): IsoDate;
}

const DAY_MS = 86_400_000;

/** `config` is read at each call: it may change while the server runs. */
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
      if (!config.negotiate || header === undefined) return standard();
      const date = typeof header === "string" ? parseIsoDate(header.trim()) : undefined;
      if (!date) throw new PlatformError("invalid_input", { message: "The api-version header must be a date such as 2024-05-01." });
      return date;
    },
  };
}
