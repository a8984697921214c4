const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = `(${MONTHS.join("|")})`;
const TIME = "([0-2]\\d):([0-5]\\d):([0-6]\\d)";

/** `Sun, 06 Nov 1994 08:49:37 GMT`: the only form that is sent. */
const FIXED = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\\d\\d) ${MONTH} (\\d{4}) ${TIME} GMT$`);
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC_850 = new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\\d\\d)-${MONTH}-(\\d\\d) ${TIME} GMT$`);
/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`);

/** Two-digit years that would be further ahead belong to the previous century (RFC 9110 §5.6.7). */
const YEARS_AHEAD_MAX = 50;

/** Milliseconds since the epoch for each of the three date formats (RFC 9110 §5.6.7), otherwise null. */
export function parseHttpDate(text: string, nowMs: number): number | null {
  const fixed = FIXED.exec(text);
  if (fixed !== null) return utc(Number(fixed[3]), fixed[2]!, Number(fixed[1]), fixed, 4);
  const asctime = ASCTIME.exec(text);
  if (asctime !== null) return utc(Number(asctime[6]), asctime[1]!, Number(asctime[2]), asctime, 3);
  const short = RFC_850.exec(text);
  if (short === null) return null;
  const thisYear = new Date(nowMs).getUTCFullYear();
  let year = thisYear - (thisYear % 100) + Number(short[3]);
  if (year > thisYear + YEARS_AHEAD_MAX) year -= 100;
  return utc(year, short[2]!, Number(short[1]), short, 4);
}

/** A date in the format that is sent. */
export const formatHttpDate = (ms: number): string => new Date(ms).toUTCString();

function utc(year: number, month: string, day: number, match: RegExpExecArray, timeAt: number): number | null {
  const monthIndex = MONTHS.indexOf(month);
  const midnightMs = Date.UTC(year, monthIndex, day);
  const hour = Number(match[timeAt]);
  // Date.UTC would turn 31 April into 1 May. A second of 60 is a leap second.
  if (day === 0 || new Date(midnightMs).getUTCMonth() !== monthIndex || hour > 23 || Number(match[timeAt + 2]) > 60) return null;
  return midnightMs + ((hour * 60 + Number(match[timeAt + 1])) * 60 + Number(match[timeAt + 2])) * 1000;
}
