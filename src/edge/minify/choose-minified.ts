import type { Head } from "#wire/http/parsed-head.ts";
import { forbidsTransforms, tellOtherBytes, weakenTag } from "#edge/compression/choose-coding.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { editedValues } from "#edge/http/header-edits.ts";
import type { MinifyTask } from "./minify-body.ts";
import type { Minifier } from "./minifier.ts";

const KINDS: ReadonlyMap<string, MinifyTask["kind"]> = new Map([
  ["text/html", "html"],
  ["text/css", "css"],
  ...["text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript"].map(
    (type): [string, MinifyTask["kind"]] => [type, "js"],
  ),
]);
const [OK, NOT_MODIFIED] = [200, 304] as const;

/**
 * Sends the minified form of a body in the cache, if the zone wants it (setting `minify`) and there is one. Runs before the
 * choice of the coding.
 */
export function chooseMinified(exchange: Exchange, buffer: Buffer, head: Head, minifier: Pick<Minifier, "of">): void {
  const { minify: wanted } = exchange.settings;
  if (wanted === null || exchange.excludes) return;
  const { cachedBody, unsent } = exchange;
  const kind = KINDS.get(unsent?.contentType ?? exchange.contentType);
  if (kind === undefined || !wanted[kind]) return;
  // The visitor's copy may be the smaller one, and its tag stands for both.
  if (head.status === NOT_MODIFIED) return weakenTag(exchange, buffer, head);
  if (head.status !== OK || cachedBody === null || !isReadable(exchange, buffer, head)) return;
  const small = minifier.of(cachedBody, { kind, css: wanted.css, js: wanted.js });
  if (small === null) return;
  exchange.cachedBody = small;
  exchange.isMinified = true;
  head.contentLength = small.length;
  tellOtherBytes(exchange, buffer, head);
}

/** Without a coding, in UTF-8 as far as it says, and with permission to change it. */
function isReadable({ responseEdits: edits }: Exchange, buffer: Buffer, head: Head): boolean {
  if (editedValues(buffer, head, edits, "content-encoding").length > 0) return false;
  if (editedValues(buffer, head, edits, "cache-control").some(forbidsTransforms)) return false;
  const [type = ""] = editedValues(buffer, head, edits, "content-type");
  const charset = /charset="?([\w-]{1,40})/i.exec(type)?.[1]?.toLowerCase();
  return charset === undefined || charset === "utf-8" || charset === "utf8" || charset === "us-ascii";
}
