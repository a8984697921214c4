import { type CacheControl, cacheControlOf, parseCacheControl } from "#wire/http/cache-control.ts";
import { isEntityTag } from "#wire/http/entity-tag.ts";
import { FIELDS_MAX } from "#wire/http/head.ts";
import { parseDictionary } from "#wire/http/structured-dictionary.ts";
import { type Freshness, freshnessOf, type Timing } from "./freshness.ts";
import { readTags } from "./tags.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/** What is kept of a response besides its body. */
export interface Storable {
  readonly status: number;
  /** As they came, but for Age and what is meant for the first visitor alone. */
  readonly fields: readonly ResponseField[];
  readonly freshness: Freshness;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Request fields that select between the responses of one URL, lower case, sorted. */
  readonly vary: readonly string[];
  readonly tags: readonly string[];
}

/** What decides besides the response itself. */
export interface StoringRequest extends Timing {
  readonly hasAuthorization: boolean;
  /** Names of targeted fields, the most specific first (RFC 9213). */
  readonly targets: readonly string[];
}

/**
 * Statuses that are kept where the response allows it: those that speak of the resource. What speaks of one request, or of a
 * fault that passes, would let one visitor's request spoil the answer for all.
 */
export const STORED_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 403, 404, 410, 451]);

const VARY_FIELDS_MAX = 8;
/** Date, Age, Content-Length and Content-Range, with some to spare. */
const OWN_FIELDS_MAX = 8;
/** Larger heads are hardly meant to be kept in thousands. */
const FIELDS_LENGTH_MAX = 16_384;

/** What to keep of a response to GET, or null where a shared cache must not keep it (RFC 9111 §3) or would never use it. */
export function storableOf(status: number, received: readonly ResponseField[], request: StoringRequest): Storable | null {
  if (!STORED_STATUSES.has(status)) return null;
  const { control, targeted } = controlOf(received, request.targets);
  // RFC 9111 §5.2.2.3: every status of the table is understood.
  if ((control.noStore && !control.mustUnderstand) || control.isPrivate) return null;
  // RFC 9111 §3.5
  if (request.hasAuthorization && !control.isPublic && !control.mustRevalidate && control.sharedMaxAge === null) return null;
  const fields = withoutWithheld(received, control);
  if (fields.some(({ key }) => key === "set-cookie")) return null;
  const vary = varyOf(fields);
  if (vary === null) return null;
  const freshness = freshnessOf(status, fields, control, targeted, request);
  if (freshness === null) return null;
  const tag = singleValue(fields, "etag");
  const etag = tag !== null && isEntityTag(tag) ? tag : null;
  const lastModified = singleValue(fields, "last-modified");
  const isUsable = request.responseMs < Math.max(freshness.refreshUntilMs, freshness.spareUntilMs) && !freshness.mustValidate;
  if (!isUsable && etag === null && lastModified === null) return null;
  const kept = fields.filter(({ key }) => key !== "age");
  // What the cache adds must have room, or the head could not be read again.
  if (
    kept.length > FIELDS_MAX - OWN_FIELDS_MAX ||
    kept.reduce((length, { name, value }) => length + name.length + value.length + 4, 0) > FIELDS_LENGTH_MAX
  )
    return null;
  return { status, fields: kept, freshness, etag, lastModified, vary, tags: readTags(valuesOf(fields, "cache-tag")) };
}

/** RFC 9213 §2.2: the most specific targeted field that is not empty and well formed replaces Cache-Control and Expires. */
function controlOf(fields: readonly ResponseField[], targets: readonly string[]): { control: CacheControl; targeted: boolean } {
  for (const target of targets) {
    const lines = valuesOf(fields, target);
    const members = lines.length === 0 ? null : parseDictionary(lines.join(", "));
    if (members !== null && members.size > 0) return { control: cacheControlOf(members), targeted: true };
  }
  return { control: parseCacheControl(valuesOf(fields, "cache-control")), targeted: false };
}

/** Fields that `private="…"` and `no-cache="…"` name are for the visitor who asked, not for the next one. */
const withoutWithheld = (fields: readonly ResponseField[], { withheld }: CacheControl): readonly ResponseField[] =>
  withheld.length === 0 ? fields : fields.filter(({ key }) => !withheld.includes(key));

/** RFC 9111 §4.1; null where no later request can match, or nearly none would. */
function varyOf(fields: readonly ResponseField[]): readonly string[] | null {
  const names = new Set(
    valuesOf(fields, "vary").flatMap((line) =>
      line
        .toLowerCase()
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    ),
  );
  return names.has("*") || names.size > VARY_FIELDS_MAX ? null : [...names].toSorted();
}
