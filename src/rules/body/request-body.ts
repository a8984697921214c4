import { rememberCharged } from "#rules/budget.ts";
import type { RequestView } from "#rules/views.ts";
import type { BodyReading } from "./body-reading.ts";
import { readBody, sentText, type SentBody } from "./read-body.ts";

/** The reading of a request's body, made once for all callers. Empty if the request has no body, or it has not arrived yet. */
export const bodyReading = (request: RequestView): BodyReading => reading(sentBody(request));

/** The body with its content codings decoded; as it was sent if it has none. */
export function bodyText(request: RequestView): string {
  const raw = request.body?.raw ?? "";
  return raw === "" || request.headers("content-encoding").length === 0 ? raw : text(sentBody(request));
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
