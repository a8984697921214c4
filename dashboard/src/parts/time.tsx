const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Whole: the day in its year, and the minute. */
const full = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

const FORMATS = { day, moment, exact, full } as const;

/** Local, with UTC where the pointer rests. */
export function Time({ of, as = "moment" }: { readonly of: string | null | undefined; readonly as?: keyof typeof FORMATS }) {
  const date = new Date(of ?? "");
  if (Number.isNaN(date.getTime())) return <>–</>;
  return (
    <time className="num" dateTime={date.toISOString()} title={`${date.toISOString().slice(0, 19).replace("T", " ")} UTC`}>
      {FORMATS[as].format(date)}
    </time>
  );
}

/** Seconds as people say them. */
export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds} s`
    : seconds < 3600
      ? `${Math.round(seconds / 60)} min`
      : seconds < 86_400
        ? `${Math.round(seconds / 3600)} h`
        : `${Math.round(seconds / 86_400)} d`;

export const count = (value: number): string => value.toLocaleString("en");

/** `1 item`, `2 items`. */
export const number = (value: number, unit: string): string => `${count(value)} ${value === 1 ? unit : `${unit}s`}`;

/** Four decimals below a dollar; what would be zero then, with its first two figures. */
export const money = (dollars: number): string =>
  dollars > 0 && dollars < 0.001
    ? `$${dollars.toFixed(Math.min(20, 1 - Math.floor(Math.log10(dollars))))}`
    : `$${dollars < 1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;

export const bytes = (value: number): string =>
  value < 1024
    ? `${value} B`
    : value < 1024 ** 2
      ? `${(value / 1024).toFixed(1)} KB`
      : value < 1024 ** 3
        ? `${(value / 1024 ** 2).toFixed(1)} MB`
        : `${(value / 1024 ** 3).toFixed(1)} GB`;
