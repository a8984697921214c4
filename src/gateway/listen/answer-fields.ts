import { formatHttpDate } from "#wire/http/http-date.ts";

/** RFC 9110 §5.5. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Invalid values are left out of the head. */
export const isFieldValue = (value: string): boolean => VALUE.test(value);

let dateSecond = Number.NaN;
let date = "";

/** The Date field, formatted once a second. */
export function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = formatHttpDate(second * 1000);
  }
  return date;
}
