import { rememberCharged } from "#rules/budget.ts";
import type { RequestView } from "#rules/views.ts";
import type { BodyReading } from "./body-reading.ts";
import { codingOf } from "./codings.ts";
import { DECODED_BYTES_MAX, readBody, sentText, type SentBody } from "./read-body.ts";

/** The reading of a request's body, made once for all callers. Empty if the request has no body, or it has not arrived yet. */
export const bodyReading = (request: RequestView): BodyReading => reading(sentBody(request));

/** The body with its content codings decoded; as it was sent if it has none. */
export function bodyText(request: RequestView): string {
  const raw = request.body?.raw ?? "";
  return raw === "" || request.headers("content-encoding").length === 0 ? raw : text(sentBody(request));
}

/** A compressed body counts as so many times its bytes; honest texts seldom shrink to less than a tenth. */
const COUNTED_GROWTH = 20;

/**
 * The bytes that rules may have to read: those that were sent, and of a compressed body also those that it decodes to, as far as they are
 * read. It is known before anything is decoded, so that requests with the same body have the same step limit.
 */
export function bytesToRead(request: RequestView): number {
  const { raw = "", decodedBytesMax = DECODED_BYTES_MAX } = request.body ?? {};
  if (raw === "" || (request.headers("content-encoding").length === 0 && codingOf(raw) === null)) return raw.length;
  return raw.length + Math.min(raw.length * COUNTED_GROWTH, decodedBytesMax);
}

const sentBody = (request: RequestView): SentBody => ({
  raw: request.body?.raw ?? "",
  truncated: request.body?.truncated ?? false,
  ...(request.body?.decodedBytesMax === undefined ? {} : { decodedBytesMax: request.body.decodedBytesMax }),
  contentType: request.headers("content-type"),
  contentEncoding: request.headers("content-encoding"),
});

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, place) => text === b[place]);

const isSame = (a: SentBody, b: SentBody): boolean =>
  a.raw === b.raw &&
  a.truncated === b.truncated &&
  isSameList(a.contentType, b.contentType) &&
  isSameList(a.contentEncoding, b.contentEncoding);

const reading = rememberCharged(readBody, isSame);
const text = rememberCharged(sentText, isSame);
