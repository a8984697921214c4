import { createHash } from "node:crypto";

/**
 * A tool call's id as a provider accepts it. Clients send back ids that another provider made, in a form that this one refuses
 * (`functions.get_weather:0`); equal ids stay equal, so that a result still names its call.
 */
export const callIdFor = (id: string, accepted: RegExp, length: number): string =>
  accepted.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, length);

/** Whether a text is a trace or span identifier: hexadecimal digits of any case, not all zero (W3C Trace Context §3.2.2). */
export const isTraceId = (text: string, digits: number): boolean =>
  text.length === digits && /^[0-9a-f]*$/i.test(text) && /[^0]/.test(text);

/** Whether a header field can carry the event identifier back: 1 to 128 visible ASCII characters. */
export const isEventId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);
