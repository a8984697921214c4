import { BroadcastChannel } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Replica } from "#snapshot/feed.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { dropFields } from "#wire/http/hop-by-hop.ts";
import { Exchange } from "#edge/exchange/exchange.ts";
import type { Visitor } from "#edge/exchange/response-sink.ts";
import type { OriginHeads } from "#edge/origin/origin-head.ts";
import type { ResponseStages } from "#edge/exchange/response-stages.ts";
import type { Timers } from "#kernel/timers.ts";
import { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { type CachedRequest, cachedRequest } from "./cached-request.ts";
import { changedKeys } from "#edge/cache/key/invalidation.ts";
import { Fill } from "#edge/cache/fill/fill.ts";
import { FillArrival } from "#edge/cache/fill/fill-response.ts";
import type { FillOwner, Source } from "#edge/cache/fill/fill-context.ts";
import { type Use, useAt } from "#edge/cache/policy/freshness.ts";
import { createPurges } from "#edge/cache/purge/purges.ts";
import { noteReceived, receivedUrls } from "#edge/cache/store/original-urls.ts";
import { createRefusals } from "#edge/cache/fill/hit-for-miss.ts";
import { CONDITION_NAMES } from "#edge/cache/key/request-facts.ts";
import { readFields } from "#edge/cache/policy/response-fields.ts";
import { createShelves, type ShelvesDeps } from "#edge/cache/store/tiered-store.ts";
import type { Asked, StoredResponse } from "#edge/cache/store/stored-response.ts";
import { pieceFrom } from "#edge/http/body-buffer.ts";

/** A request as it came. The head is good only during the call. */
export interface CacheRequest {
  readonly exchange: Exchange;
  readonly buffer: Buffer;
  readonly head: Head;
  readonly visitor: Visitor;
  /** Told who answers before it does. */
  taken(reader: CacheReader): void;
  /** Sends a head to the origin as if there were no cache. */
  goAlone(originHead: string): void;
}

/** The cache of one edge worker (RFC 9111). */
export interface EdgeCache {
  /** What the cache makes of a request; null where it is none of its business, and the exchange says why. */
  read(exchange: Exchange, hasBody: boolean): CachedRequest | null;
  /** Answers a request, now or when its response has come. False: the request goes on to its origin; its exchange says why. */
  serve(request: CacheRequest, cached: CachedRequest): boolean;
  /** Looks at what an origin answers to a request that was not the cache's: others change what is stored (RFC 9111 §4.4). */
  observe(exchange: Exchange, buffer: Buffer, head: Head): void;
  /** Writes what is to be on disk. */
  close(): Promise<void>;
}

export interface CacheDeps {
  /** Says what was purged. */
  readonly replica: Replica;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly timers: Timers;
  readonly originHeads: OriginHeads;
  readonly pipeline: ResponseStages;
  /** Sends a request to its origin on behalf of a visitor. */
  launch(exchange: Exchange, originHead: string, visitor: Visitor): Source;
  readonly vendorPrefix: string;
  readonly memoryBytesMax: number;
  /** Null: nothing is kept on disk. */
  readonly disk: ShelvesDeps["disk"];
  /** Longer than this, nobody waits for another one's response. */
  readonly waitMs: number;
  onError(error: unknown): void;
}

/** Bodies that are under way may take this share of the memory together. */
const UNDER_WAY_SHARE = 1 / 2;
/** Where threads tell each other what visitors have changed. */
const PEERS = "selvedge-edge-cache";
/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** What is known of a request once its head is gone. */
interface Prepared {
  readonly cached: CachedRequest;
  /** The request that a fill sends, and its head without validators. */
  readonly asking: Exchange;
  readonly fillHead: string;
  readonly reader: CacheReader;
}

export function createEdgeCache(deps: CacheDeps): EdgeCache {
  const { clock, memoryBytesMax, vendorPrefix, waitMs, replica } = deps;
  const purges = createPurges(replica);
  const shelves = createShelves({ ...deps, isPurged: purges.isPurged });
  const refusals = createRefusals();
  const fills = new Map<string, Fill>();
  let underWayBytes = 0;
  const respond: FillOwner["respond"] = (reader, response, source, status) => reader.respond(response, source, status, clock.nowMs());
  const give: FillOwner["give"] = (reader, response, status) =>
    shelves.open(response, reader, (source) => respond(reader, response, source, status));

  const owner: FillOwner = {
    ...shelves,
    nowMs: clock.nowMs,
    targets: [`${vendorPrefix}-cdn-cache-control`, "cdn-cache-control"],
    reserve: (bytes) => {
      if (bytes > 0 && underWayBytes + bytes > memoryBytesMax * UNDER_WAY_SHARE) return false;
      underWayBytes += bytes;
      return true;
    },
    released: (request, refused) => {
      const key = placeOf(request.asked);
      if (fills.get(key)?.request === request) fills.delete(key);
      if (refused !== null) refusals.add(refused.isForParts ? partsOf(key) : key, refused.status, clock.nowMs(), refused.keptMs);
    },
    respond,
    give,
  };

  const prepare = (request: CacheRequest, cached: CachedRequest): Prepared => {
    const { exchange, buffer, head } = request;
    const aloneHead = deps.originHeads.write(buffer, head, exchange, "");
    const asking = Object.assign(Object.create(Exchange.prototype) as Exchange, exchange);
    // The origin sees what the key says, and none of what this one visitor has already.
    asking.originForm = originFormOf(cached.asked);
    asking.method = "GET";
    asking.isForMany = true;
    if (cached.changes.length > 0) {
      // The visitor's own are left as they are: rules still look at them.
      const { requestEdits: edits } = asking;
      asking.requestEdits = edits === null ? null : { drop: [...edits.drop], add: [...edits.add] };
      asking.editRequest(cached.changes);
    }
    dropFields(buffer, head, CONDITION_NAMES);
    const fillHead = deps.originHeads.write(buffer, head, asking, "");
    const reader = new CacheReader(deps.pipeline, exchange, request.visitor, () => {
      exchange.cacheStatus = "MISS";
      request.goAlone(aloneHead);
    });
    reader.wantsPart = cached.facts.hasRange;
    request.taken(reader);
    return { cached, asking, fillHead, reader };
  };

  /** Asks the origin, for a reader or for those who come later. */
  const begin = ({ cached, asking, fillHead }: Prepared, stale: StoredResponse | null, reader: CacheReader | null): void => {
    const received = receivedUrls(asking, stale?.asked);
    const asked = { ...cached.asked, received, purges: purges.countOf(cached.asked.zoneId) };
    const fill = new Fill(owner, { asked, exchange: asking, hasAuthorization: cached.facts.hasAuthorization, stale });
    fills.set(placeOf(asked), fill);
    if (reader === null) fill.isBackground = true;
    else fill.join(reader);
    fill.source = deps.launch(asking, withValidators(fillHead, stale), new FillArrival(fill));
  };

  /** Waits for what somebody else asked for already, or asks. */
  const waitOrAsk = (prepared: Prepared, stale: StoredResponse | null): void => {
    const underWay = fills.get(placeOf(prepared.cached.asked));
    if (underWay === undefined) return begin(prepared, stale, prepared.reader);
    noteReceived(underWay.request.asked, prepared.asking);
    underWay.join(prepared.reader);
  };

  const refresh = (prepared: Prepared, stored: StoredResponse): void => {
    if (!fills.has(placeOf(prepared.cached.asked))) begin(prepared, stored, null);
  };

  /** Why nobody should wait for a response to this; null where one may. */
  const refusalOf = ({ asked, facts }: CachedRequest, exchange: Exchange, stored: StoredResponse | null): CacheStatus | null => {
    const status = stored === null ? "MISS" : "EXPIRED";
    const place = placeOf(asked);
    // Its head alone is not worth waiting for the whole, nor is a part of what is too large.
    if (exchange.method === "HEAD" || (facts.hasRange && refusals.find(partsOf(place), exchange.at_ms) !== null)) return status;
    const underWay = fills.get(place);
    const isLate = underWay !== undefined && underWay.isWaiting && clock.nowMs() - underWay.startedMs > waitMs;
    return refusals.find(place, exchange.at_ms) ?? (isLate || underWay?.isForOne === true ? status : null);
  };

  /** A response whose body is on disk: into memory where it fits, else as it is read. */
  const serveFromDisk = (request: CacheRequest, cached: CachedRequest, stored: StoredResponse): void => {
    const { exchange } = request;
    const prepared = prepare(request, cached);
    const { reader } = prepared;
    const answer = (found: StoredResponse): void => {
      const use = useFor(exchange, found);
      if (use === "validate") return refusalOf(cached, exchange, found) === null ? waitOrAsk(prepared, found) : reader.goAlone();
      if (use === "refresh") refresh(prepared, found);
      give(reader, found, use === "fresh" ? "HIT" : "UPDATING");
    };
    if (stored.length > shelves.objectBytesMax) return answer(stored);
    shelves
      .fetch(stored)
      .then((warm) => (warm === null ? reader.goAlone() : answer(warm)))
      .catch(deps.onError);
  };

  /** What has changed at its origin, and what is on its way here from before. */
  const forget = (key: string): void => {
    shelves.dropKey(key);
    for (const [place, fill] of fills) {
      if (fill.request.asked.key !== key) continue;
      fill.isDoomed = true;
      fills.delete(place);
    }
  };
  // The other threads of the process have caches of their own.
  const peers = new BroadcastChannel(PEERS);
  peers.unref();
  peers.addEventListener("message", (event) => (event as Event & { readonly data: readonly string[] }).data.forEach(forget));

  purges.onPurged((isGone) => {
    shelves.sweep(isGone);
    for (const fill of fills.values()) {
      if (!isGone({ asked: fill.request.asked, tags: fill.response?.tags ?? null })) continue;
      fill.isDoomed = true;
      fills.delete(placeOf(fill.request.asked));
    }
  }, shelves.notePurges);

  deps.timers.add({
    check: () => {
      const nowMs = clock.nowMs();
      for (const fill of fills.values()) if (nowMs - fill.startedMs > waitMs) fill.sendWaitersAway();
      shelves.measure();
    },
  });

  return {
    read: (exchange, hasBody) => {
      const cached = cachedRequest(exchange, hasBody);
      if (typeof cached !== "string") return cached;
      exchange.cacheStatus = cached;
      return null;
    },
    serve: (request, cached) => {
      const { exchange } = request;
      const stored = shelves.find(cached.asked, exchange);
      if (stored !== null && exchange.received_path !== undefined) noteReceived(stored.asked, exchange);
      if (stored !== null && stored.file !== null) {
        serveFromDisk(request, cached, stored);
        return true;
      }
      const use = stored === null ? "validate" : useFor(exchange, stored);
      if (stored !== null && use !== "validate") {
        if (use === "refresh") refresh(prepare(request, cached), stored);
        serveStored(request, stored, use === "fresh" ? "HIT" : "UPDATING");
        return true;
      }
      const refusal = refusalOf(cached, exchange, stored);
      if (refusal !== null) {
        exchange.cacheStatus = refusal;
        return false;
      }
      waitOrAsk(prepare(request, cached), stored);
      return true;
    },
    observe: (exchange, buffer, head) => {
      if (exchange.method === "GET" || SAFE.has(exchange.method) || exchange.zone === null || head.status >= 400) return;
      const keys = changedKeys(exchange, readFields(buffer, head));
      keys.forEach(forget);
      peers.postMessage(keys);
    },
    close: async () => {
      peers.close();
      await shelves.close();
    },
  };

  function serveStored({ exchange, visitor, taken }: CacheRequest, stored: StoredResponse, status: CacheStatus): void {
    const reader = new CacheReader(deps.pipeline, exchange, visitor, () => undefined);
    taken(reader);
    shelves.used(stored);
    respond(reader, stored, { from: (offset) => pieceFrom(stored.body, offset) }, status);
  }
}

/** Rules may want no visitor to get what is too old. */
const useFor = ({ at_ms: atMs, cacheRule: rule }: Exchange, { freshness }: StoredResponse): Use =>
  useAt(freshness, atMs, rule?.serve_stale?.disable_stale_while_updating !== true);

/** Where a fill is found by those who ask for the same. */
const placeOf = ({ key, apart }: Asked): string => (apart === "" ? key : `${key}\n${apart}`);

/** Where it is remembered that nobody waits for a part of it. */
const partsOf = (place: string): string => `${place}\nparts`;

const originFormOf = ({ path, query }: Asked): string => (query === "" ? path : `${path}?${query}`);

/** RFC 9111 §4.3.1 */
function withValidators(originHead: string, stale: StoredResponse | null): string {
  if (stale === null) return originHead;
  const tag = stale.etag === null ? "" : `If-None-Match: ${stale.etag}\r\n`;
  const since = stale.lastModified === null ? "" : `If-Modified-Since: ${stale.lastModified}\r\n`;
  return `${originHead.slice(0, -2)}${tag}${since}\r\n`;
}
