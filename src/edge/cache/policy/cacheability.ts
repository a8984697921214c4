import { type CacheControl, cacheControlOf, parseCacheControl } from "#wire/http/cache-control.ts";
import { isEntityTag } from "#wire/http/entity-tag.ts";
import { FIELDS_MAX } from "#wire/http/parsed-head.ts";
import { parseDictionary } from "#wire/http/structured-dictionary.ts";
import { ruledSeconds } from "./cache-rule.ts";
import type { CacheRule } from "#edge/exchange/cache-decision.ts";
import { isAsNamed, isPageOrData } from "./deception-armor.ts";
import { type Freshness, freshnessOf, hasOwnTime, ruledFreshness, type Timing } from "./freshness.ts";
import { readTags } from "./tags.ts";
import { type ResponseField, singleValue, valuesOf } from "./response-fields.ts";

/** The parts of a response that are stored besides its body. */
export interface Storable {
  readonly status: number;
  /** As received, without Age and fields for the first visitor only. */
  readonly fields: readonly ResponseField[];
  readonly freshness: Freshness;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Request fields that Vary names, lower case, sorted. */
  readonly vary: readonly string[];
  readonly tags: readonly string[];
}

/** The facts about a request that cacheability depends on. */
export interface StoringRequest extends Timing {
  readonly hasAuthorization: boolean;
  /** Names of targeted cache-control fields, the most specific first (RFC 9213). */
  readonly targets: readonly string[];
  /** Parameters of cache rules. */
  readonly rule: CacheRule | null;
  /** Path of the request without its query. */
  readonly path: string;
}

/**
 * Statuses that are stored if the response allows it: those that describe the resource. Others describe one request or a
 * passing fault, and storing them would let one visitor break the page for all.
 */
export const STORED_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 403, 404, 410, 451]);

const VARY_FIELDS_MAX = 8;
/** Room for Date, Age, Content-Length and Content-Range, with a margin. */
const OWN_FIELDS_MAX = 8;
/** Larger heads are not stored. */
const FIELDS_LENGTH_MAX = 16_384;

/** Partial responses and 304: never stored, even if a rule asks for it. */
const NEVER_STORED: ReadonlySet<number> = new Set([206, 304]);

/**
 * The parts of a response to GET to store. Null if a shared cache must not store it (RFC 9111 §3), a rule forbids it, or
 * it could never be used.
 */
export function cacheabilityOf(status: number, received: readonly ResponseField[], request: StoringRequest): Storable | null {
  const { rule } = request;
  // The first visitor may also get fields that are not stored, followed by those that the cache adds.
  if (received.length > FIELDS_MAX - OWN_FIELDS_MAX) return null;
  const seconds = ruledSeconds(rule, status);
  if (seconds === -1 || NEVER_STORED.has(status) || (seconds === null && !STORED_STATUSES.has(status))) return null;
  const { control, targeted } = controlOf(received, request.targets);
  if (seconds === null && !mayStore(control, targeted, received, request)) return null;
  // RFC 9111 §3.5
  if (request.hasAuthorization && !control.isPublic && !control.mustRevalidate && control.sharedMaxAge === null) return null;
  const fields = withRuleEdits(seconds === null ? withoutWithheld(received, control) : received, rule);
  if (fields.some(({ key }) => key === "set-cookie")) return null;
  if (rule?.cache_key?.cache_deception_armor === true && !isAsNamed(request.path, singleValue(fields, "content-type"))) return null;
  if (seconds === null && rule?.cache !== true && isSurprisingPage(status, fields, request.path) && !hasOwnTime(fields, control, targeted))
    return null;
  const vary = varyOf(fields);
  if (vary === null) return null;
  const freshness = seconds === null ? freshnessOf(status, fields, control, targeted, request) : ruledFreshness(fields, seconds, request);
  if (freshness === null) return null;
  return storableOf(status, fields, freshness, vary, request.responseMs);
}

/** A page of one visitor, perhaps, that an origin sends for the name of a file (web cache deception). */
const isSurprisingPage = (status: number, fields: readonly ResponseField[], path: string): boolean =>
  status < 300 && isPageOrData(path, singleValue(fields, "content-type"));

/** RFC 9111 §5.2.2.3: the cache understands all statuses it stores. A rule may require an explicit TTL of the origin. */
function mayStore(control: CacheControl, targeted: boolean, fields: readonly ResponseField[], { rule }: StoringRequest): boolean {
  if ((control.noStore && !control.mustUnderstand) || control.isPrivate) return false;
  if (rule?.edge_ttl?.mode !== "bypass_by_default") return true;
  return targeted || fields.some(({ key }) => key === "cache-control" || key === "expires");
}

/** The fields with the changes that a rule makes for storing and serving. */
function withRuleEdits(fields: readonly ResponseField[], rule: CacheRule | null): readonly ResponseField[] {
  if (rule === null) return fields;
  const { strip_etags: tags, strip_last_modified: modified, strip_set_cookie: cookies, respect_strong_etags: strong } = rule;
  if (tags !== true && modified !== true && cookies !== true && strong !== false) return fields;
  const dropped = new Set([tags === true ? "etag" : "", modified === true ? "last-modified" : "", cookies === true ? "set-cookie" : ""]);
  const kept = fields.filter(({ key }) => !dropped.has(key));
  if (strong !== false) return kept;
  return kept.map((field) => (field.key === "etag" && field.value.startsWith('"') ? { ...field, value: `W/${field.value}` } : field));
}

function storableOf(
  status: number,
  fields: readonly ResponseField[],
  freshness: Freshness,
  vary: readonly string[],
  nowMs: number,
): Storable | null {
  const tag = singleValue(fields, "etag");
  const etag = tag !== null && isEntityTag(tag) ? tag : null;
  const lastModified = singleValue(fields, "last-modified");
  const isUsable = nowMs < Math.max(freshness.refreshUntilMs, freshness.spareUntilMs) && !freshness.mustValidate;
  if (!isUsable && etag === null && lastModified === null) return null;
  const kept = fields.filter(({ key }) => key !== "age");
  // The cache adds fields; with them the head must still fit the parser's limit.
  if (kept.reduce((length, { name, value }) => length + name.length + value.length + 4, 0) > FIELDS_LENGTH_MAX) return null;
  return { status, fields: kept, freshness, etag, lastModified, vary, tags: readTags(valuesOf(fields, "cache-tag")) };
}

/** The most specific targeted field that is valid and not empty replaces Cache-Control and Expires (RFC 9213 §2.2). */
function controlOf(fields: readonly ResponseField[], targets: readonly string[]): { control: CacheControl; targeted: boolean } {
  for (const target of targets) {
    const lines = valuesOf(fields, target);
    const members = lines.length === 0 ? null : parseDictionary(lines.join(", "));
    const control = members === null || members.size === 0 ? null : cacheControlOf(members);
    if (control !== null) return { control, targeted: true };
  }
  return { control: parseCacheControl(valuesOf(fields, "cache-control")), targeted: false };
}

/** The fields that are for the first visitor only, and not stored. */
export function withheldFields(received: readonly ResponseField[], status: number, request: StoringRequest): readonly ResponseField[] {
  if (ruledSeconds(request.rule, status) !== null) return [];
  const { withheld } = controlOf(received, request.targets).control;
  return withheld.length === 0
    ? []
    : withRuleEdits(
        received.filter(({ key }) => withheld.includes(key)),
        request.rule,
      );
}

/** Removes fields that `private="…"` and `no-cache="…"` name: only the first visitor may get them. */
const withoutWithheld = (fields: readonly ResponseField[], { withheld }: CacheControl): readonly ResponseField[] =>
  withheld.length === 0 ? fields : fields.filter(({ key }) => !withheld.includes(key));

/** Names of Vary (RFC 9111 §4.1); null if few or no later requests could match. */
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
  // Not every client can decode the coding, even if the origin sent no Vary.
  if (fields.some(({ key }) => key === "content-encoding")) names.add("accept-encoding");
  return names.has("*") || names.size > VARY_FIELDS_MAX ? null : [...names].toSorted();
}
