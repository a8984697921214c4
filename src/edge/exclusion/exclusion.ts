import { type FieldChange, fieldChange } from "#rules/actions/field-change.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { codingLines } from "#edge/compression/choose-coding.ts";
import { changeField, editedValues, editResponse } from "#edge/http/header-edits.ts";
import { knownCodings } from "./packed-page.ts";

const PAGES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const PARTIAL = 206;

/**
 * So that the origin and the cache send a whole page that can be read: a part may begin inside a mark, and a page that the
 * visitor already has may be a complete one.
 */
const ASKS_FOR_THE_PAGE: readonly FieldChange[] = [
  fieldChange("Accept-Encoding", "set", "identity"),
  ...["Range", "If-Range", "If-None-Match", "If-Modified-Since"].map((name) => fieldChange(name, "remove")),
];

/** Other visitors get another page, and tags and digests are those of the complete one. */
const ABOUT_THE_PAGE: readonly FieldChange[] = [
  fieldChange("Cache-Control", "set", "private, no-store"),
  ...["ETag", "Last-Modified", "Accept-Ranges", "Content-Digest", "Content-MD5", "Digest", "Repr-Digest"].map((name) =>
    fieldChange(name, "remove"),
  ),
];

const UNPACKED = fieldChange("Content-Encoding", "remove");

/**
 * Runs after all rules. Notes whether the visitor does not get the marked parts of pages (setting `server_side_exclude`):
 * a rule has logged the request, or its User-Agent is not a browser's of today. A passed challenge clears a visitor.
 */
export function chooseExclusion(exchange: Exchange): null {
  if (!exchange.settings.server_side_exclude || (exchange.method !== "GET" && exchange.method !== "HEAD")) return null;
  if (!isSuspicious(exchange) || exchange.isCleared) return null;
  exchange.excludes = true;
  exchange.codingLines = codingLines(exchange);
  exchange.editRequest(ASKS_FOR_THE_PAGE);
  return null;
}

/** Browsers since Internet Explorer 9 (2011) begin like this; search engines do too. */
const BROWSER = "Mozilla/5.0 (";
/** A rule that lets the request pass says nothing against it. */
const FAVOURABLE: ReadonlySet<string> = new Set(["skip", "allow", "bypass"]);

const isSuspicious = ({ user_agent: agent, logged }: Exchange): boolean =>
  !agent.startsWith(BROWSER) || logged.some(({ match }) => !FAVOURABLE.has(match.action));

/**
 * Decides whether the marked parts are left out of a response, and changes its head for that. Runs before the choice of the
 * coding, which is the visitor's: a page that the origin has compressed all the same is read first (`PackedPage`).
 */
export function chooseExcluded(exchange: Exchange, buffer: Buffer, head: Head): void {
  if (!exchange.excludes) return;
  exchange.excludes = PAGES.has(exchange.contentType) && head.status !== PARTIAL;
  if (!exchange.excludes) return;
  exchange.cachedBody = null;
  exchange.packing = knownCodings(editedValues(buffer, head, exchange.responseEdits, "content-encoding"));
  const edits = editResponse(exchange);
  for (const change of ABOUT_THE_PAGE) changeField(edits, change);
  if (exchange.packing.length > 0) changeField(edits, UNPACKED);
  head.contentLength = -1;
}
