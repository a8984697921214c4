import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { PurgeEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import type { Head } from "#wire/http/head.ts";
import { dropFields } from "#wire/http/hop-by-hop.ts";
import { Exchange } from "#edge/exchange.ts";
import type { Visitor } from "#edge/forward.ts";
import type { OriginHeads } from "#edge/origin-head.ts";
import type { Pipeline } from "#edge/pipeline.ts";
import type { Timers } from "#edge/timers.ts";
import { CacheReader } from "./cache-reader.ts";
import type { CacheStatus } from "./cache-status.ts";
import { type CachedRequest, cachedRequest } from "./cached-request.ts";
import { Fill, type FillOwner, type Source } from "./fill.ts";
import { useAt } from "./freshness.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createRefusals } from "./refusals.ts";
import { type Purgeable, type PurgeTest, purgeTest } from "./purges.ts";
import { readFields } from "./response-fields.ts";
import { changedKeys } from "./changed-keys.ts";
import { CONDITION_NAMES } from "./request-facts.ts";
import { secondaryKey } from "./secondary-key.ts";
import { type Asked, pieceFrom, type StoredResponse } from "./stored-response.ts";

/** A request as it came. The head is good only during the call. */
export interface CacheRequest {
  readonly exchange: Exchange;
  readonly buffer: Buffer;
  readonly head: Head;
  readonly hasBody: boolean;
  readonly visitor: Visitor;
  /** Told who answers before it does. */
  taken(reader: CacheReader): void;
  /** Sends a head to the origin as if there were no cache. */
  goAlone(originHead: string): void;
}

/** The cache of one edge worker (RFC 9111). */
export interface EdgeCache {
  /** Answers a request, now or when its response has come. False: the request goes on to its origin; its exchange says why. */
  serve(request: CacheRequest): boolean;
  /** Looks at what an origin answers to a request that was not the cache's: others change what is stored (RFC 9111 §4.4). */
  observe(exchange: Exchange, buffer: Buffer, head: Head): void;
}

export interface CacheDeps {
  /** Says what was purged. */
  readonly replica: Replica;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly timers: Timers;
  readonly originHeads: OriginHeads;
  readonly pipeline: Pick<Pipeline, "response" | "substitute">;
  /** Sends a request to its origin on behalf of a visitor. */
  launch(exchange: Exchange, originHead: string, visitor: Visitor): Source;
  readonly vendorPrefix: string;
  readonly memoryBytesMax: number;
  /** Longer than this, nobody waits for another one's response. */
  readonly waitMs: number;
}

/** A body may take this share of the memory, and those under way together that one. */
const OBJECT_SHARE = 1 / 8;
const UNDER_WAY_SHARE = 1 / 2;
/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function createEdgeCache(deps: CacheDeps): EdgeCache {
  const { clock, memoryBytesMax, vendorPrefix, waitMs } = deps;
  const store = createMemoryStore(memoryBytesMax);
  const refusals = createRefusals();
  const fills = new Map<string, Fill>();
  let underWayBytes = 0;
  const browserSeconds = (exchange: Exchange): number => (exchange.zone === null ? 0 : exchange.settings.browser_cache_ttl);

  const owner: FillOwner = {
    nowMs: clock.nowMs,
    targets: [`${vendorPrefix}-cdn-cache-control`, "cdn-cache-control"],
    objectBytesMax: memoryBytesMax * OBJECT_SHARE,
    reserve: (bytes) => {
      if (bytes > 0 && underWayBytes + bytes > memoryBytesMax * UNDER_WAY_SHARE) return false;
      underWayBytes += bytes;
      return true;
    },
    keep: store.put,
    drop: store.remove,
    released: (fill, refused) => {
      const key = placeOf(fill.request.asked);
      if (fills.get(key) === fill) fills.delete(key);
      if (refused !== null) refusals.add(key, refused, clock.nowMs());
    },
    respond: (reader, response, source, status) => reader.respond(response, source, status, browserSeconds(reader.exchange), clock.nowMs()),
    browserSeconds,
  };

  const begin = (
    request: CacheRequest,
    { asked, facts }: CachedRequest,
    stale: StoredResponse | null,
    reader: CacheReader | null,
  ): void => {
    const { exchange, buffer, head } = request;
    const asking = Object.assign(Object.create(Exchange.prototype) as Exchange, exchange);
    // The origin sees what the key says, and none of what this one visitor has already.
    asking.originForm = asked.query === "" ? asked.path : `${asked.path}?${asked.query}`;
    asking.method = "GET";
    asking.isForMany = true;
    dropFields(buffer, head, CONDITION_NAMES);
    const originHead = withValidators(deps.originHeads.write(buffer, head, asking, ""), stale);
    const purges = deps.replica.snapshot.get("purge", asked.zoneId)?.count ?? 0;
    const fill = new Fill(owner, { asked: { ...asked, purges }, exchange: asking, hasAuthorization: facts.hasAuthorization, stale });
    fills.set(placeOf(asked), fill);
    if (reader === null) fill.isBackground = true;
    else fill.join(reader);
    fill.source = deps.launch(asking, originHead, fill);
  };

  const serveStored = (request: CacheRequest, cached: CachedRequest, stored: StoredResponse, status: CacheStatus): void => {
    const { exchange } = request;
    stored.visited = true;
    if (status === "UPDATING" && !fills.has(placeOf(cached.asked))) begin(request, cached, stored, null);
    const reader = new CacheReader(deps.pipeline, exchange, request.visitor, () => undefined);
    request.taken(reader);
    owner.respond(reader, stored, { from: (offset) => pieceFrom(stored.body, offset) }, status);
  };

  /** Waits for what somebody else asked for already, or asks. */
  const fetch = (request: CacheRequest, cached: CachedRequest, stale: StoredResponse | null): boolean => {
    const { exchange, buffer, head, visitor } = request;
    const place = placeOf(cached.asked);
    const underWay = fills.get(place);
    const refused = refusals.find(place, exchange.at_ms);
    const isLate = underWay !== undefined && underWay.isWaiting && clock.nowMs() - underWay.startedMs > waitMs;
    if (refused !== null || isLate) {
      exchange.cacheStatus = refused ?? "MISS";
      return false;
    }
    const aloneHead = deps.originHeads.write(buffer, head, exchange, "");
    const reader = new CacheReader(deps.pipeline, exchange, visitor, () => {
      exchange.cacheStatus = "MISS";
      request.goAlone(aloneHead);
    });
    request.taken(reader);
    if (underWay === undefined) begin(request, cached, stale, reader);
    else underWay.join(reader);
    return true;
  };

  /** Takes away what these zones have purged, and what is on its way here from before. */
  const purge = (tests: ReadonlyMap<string, PurgeTest>): void => {
    const isGone = (response: Purgeable): boolean => tests.get(response.asked.zoneId)?.(response) === true;
    store.sweep(isGone);
    for (const fill of fills.values()) {
      if (!isGone({ asked: fill.request.asked, tags: fill.response?.tags ?? null })) continue;
      fill.isDoomed = true;
      fills.delete(placeOf(fill.request.asked));
    }
  };
  const testOf = (zoneId: string, entry: PurgeEntry): PurgeTest =>
    purgeTest(entry, deps.replica.snapshot.get("zone", zoneId)?.edge?.cache_level ?? EDGE_SETTINGS_DEFAULTS.cache_level);
  deps.replica.onApplied((ops) => {
    const tests = new Map<string, PurgeTest>();
    for (const [zoneId, entry] of ops === null ? deps.replica.snapshot.entries("purge") : []) tests.set(zoneId, testOf(zoneId, entry));
    for (const op of ops ?? []) {
      if (op.kind === "purge" && op.value !== null) tests.set(op.id, testOf(op.id, op.value));
      else if (op.kind === "zone" && op.value === null) tests.set(op.id, () => true);
    }
    if (tests.size > 0) purge(tests);
  });

  const counters = cacheMetrics(deps.metrics);
  deps.timers.add({
    check: () => {
      const nowMs = clock.nowMs();
      for (const fill of fills.values()) if (nowMs - fill.startedMs > waitMs) fill.sendWaitersAway();
      counters.bytes.value = store.bytes;
      counters.responses.value = store.size;
    },
  });

  return {
    serve: (request) => {
      const { exchange } = request;
      const cached = cachedRequest(exchange, request.hasBody);
      if (typeof cached === "string") {
        exchange.cacheStatus = cached;
        return false;
      }
      const stored = select(store.find(cached.asked.key), cached.asked.apart, exchange);
      const use = stored === null ? null : useAt(stored.freshness, exchange.at_ms);
      if (stored !== null && use !== "validate") {
        serveStored(request, cached, stored, use === "fresh" ? "HIT" : "UPDATING");
        return true;
      }
      // A part of it, or its head alone, is not worth waiting for the whole.
      if (exchange.method === "HEAD" || cached.facts.hasRange) {
        exchange.cacheStatus = stored === null ? "MISS" : "EXPIRED";
        return false;
      }
      return fetch(request, cached, stored);
    },
    observe: (exchange, buffer, head) => {
      if (exchange.method === "GET" || SAFE.has(exchange.method) || exchange.zone === null || head.status >= 400) return;
      for (const key of changedKeys(exchange, readFields(buffer, head))) for (const stored of store.find(key)) store.remove(stored);
    },
  };
}

const cacheMetrics = (metrics: MetricRegistry) => ({
  bytes: metrics.gauge("selvedge_edge_cache_memory_bytes", "Bytes of memory that cached responses take"),
  responses: metrics.gauge("selvedge_edge_cache_responses", "Cached responses"),
});

/** Where a fill is found by those who ask for the same. */
const placeOf = ({ key, apart }: Asked): string => (apart === "" ? key : `${key}\n${apart}`);

/** RFC 9111 §4.1: of those that the request selects, the newest. */
function select(responses: readonly StoredResponse[], apart: string, exchange: Exchange): StoredResponse | null {
  for (const response of responses) {
    if (response.asked.apart !== apart) continue;
    if (response.vary.length === 0 || secondaryKey(response.vary, exchange) === response.secondary) return response;
  }
  return null;
}

/** RFC 9111 §4.3.1 */
function withValidators(originHead: string, stale: StoredResponse | null): string {
  if (stale === null) return originHead;
  const tag = stale.etag === null ? "" : `If-None-Match: ${stale.etag}\r\n`;
  const since = stale.lastModified === null ? "" : `If-Modified-Since: ${stale.lastModified}\r\n`;
  return `${originHead.slice(0, -2)}${tag}${since}\r\n`;
}
