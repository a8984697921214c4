import { BroadcastChannel } from "node:worker_threads";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Replica } from "#snapshot/feed.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { dropFields } from "#wire/http/hop-by-hop.ts";
import { Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import type { OriginHeads } from "#edge/origin/origin-head.ts";
import type { ResponseStages } from "#edge/exchange/response-stages.ts";
import type { Timers } from "#kernel/timers.ts";
import { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { type CachedRequest, cachedRequest } from "./cached-request.ts";
import { changedKeys } from "#edge/cache/key/invalidation.ts";
import { Fill } from "#edge/cache/fill/fill.ts";
import { FillResponse } from "#edge/cache/fill/fill-response.ts";
import type { FillOwner, FillRequest, Source } from "#edge/cache/fill/fill-context.ts";
import { type Use, useAt } from "#edge/cache/policy/freshness.ts";
import { createPurges } from "#edge/cache/purge/purges.ts";
import { noteReceived, receivedUrls } from "#edge/cache/store/original-urls.ts";
import { createRefusals } from "#edge/cache/fill/hit-for-miss.ts";
import { CONDITION_NAMES, hasConditions } from "#edge/cache/key/request-facts.ts";
import { readFields } from "#edge/cache/policy/response-fields.ts";
import { createTieredStore, type TieredStoreDeps } from "#edge/cache/store/tiered-store.ts";
import type { RequestKey, StoredResponse } from "#edge/cache/store/stored-response.ts";
import { requestedCodings } from "#edge/compression/accept-encoding.ts";
import { type FieldChange, fieldChange } from "#rules/actions/field-change.ts";
import { chunkFrom } from "#edge/http/body-buffer.ts";

/** A request to the cache. The head is valid only during the call. */
export interface CacheRequest {
  readonly exchange: Exchange;
  readonly buffer: Buffer;
  readonly head: Head;
  readonly visitor: ResponseSink;
  /** Called with the reader before it answers. */
  taken(reader: CacheReader): void;
  /** Sends the head to the origin without the cache. */
  goAlone(originHead: string): void;
}

/** The cache of one edge worker (RFC 9111). */
export interface EdgeCache {
  /** Prepares a request for the cache. Null if the cache does not handle it; `exchange.cacheStatus` then says why. */
  read(exchange: Exchange, hasBody: boolean): CachedRequest | null;
  /**
   * Answers a request, now or when its response arrives. Returns false if the request must go to the origin;
   * `exchange.cacheStatus` then says why.
   */
  serve(request: CacheRequest, cached: CachedRequest): boolean;
  /**
   * Reads the origin's response to a request that bypassed the cache: unsafe methods invalidate stored responses (RFC
   * 9111 §4.4).
   */
  observe(exchange: Exchange, buffer: Buffer, head: Head): void;
  /** Finishes pending writes to disk. */
  close(): Promise<void>;
}

export interface CacheDeps {
  /** Source of the zones' purges. */
  readonly replica: Replica;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly timers: Timers;
  readonly originHeads: OriginHeads;
  readonly pipeline: ResponseStages;
  /** Sends a request to its origin for a visitor or a fill. */
  launch(exchange: Exchange, originHead: string, visitor: ResponseSink): Source;
  readonly vendorPrefix: string;
  readonly memoryBytesMax: number;
  /** Null to cache in memory only. */
  readonly disk: TieredStoreDeps["disk"];
  /** How long a request waits for the fill of another one, in milliseconds. */
  readonly waitMs: number;
  onError(error: unknown): void;
}

/** Share of the memory that bodies of unfinished fills may use together. */
const UNDER_WAY_SHARE = 1 / 2;
/** Channel over which threads report responses that a request invalidated. */
const PEERS = "selvedge-edge-cache";
/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** The parts of a request that outlive its head. */
interface Prepared {
  readonly cached: CachedRequest;
  /** The exchange that a fill sends to the origin, and its head without validators. */
  readonly asking: Exchange;
  readonly fillHead: string;
  readonly reader: CacheReader;
}

export function createEdgeCache(deps: CacheDeps): EdgeCache {
  const { clock, memoryBytesMax, vendorPrefix, waitMs, replica } = deps;
  const purges = createPurges(replica);
  const shelves = createTieredStore({ ...deps, isPurged: purges.isPurged });
  const refusals = createRefusals();
  const fills = new Map<string, Fill>();
  /** Fills for which nobody else may wait: of requests whose last response could not be shared. */
  const probes = new Map<FillRequest, Fill>();
  const everyFill = (): readonly Fill[] => [...fills.values(), ...probes.values()];
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
    keep: (response) => {
      refusals.drop(placeOf(response.asked));
      shelves.keep(response);
    },
    released: (request, refused) => {
      const key = placeOf(request.asked);
      probes.delete(request);
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
    // The origin gets the request as the cache key describes it, without the visitor's conditions.
    asking.originForm = originFormOf(cached.asked);
    asking.method = "GET";
    asking.isForMany = true;
    const changes = [...cached.changes, ...changeOfCodings(exchange)];
    if (changes.length > 0) {
      // Copied, because rules still read the visitor's own edits.
      const { requestEdits: edits } = asking;
      asking.requestEdits = edits === null ? null : { drop: [...edits.drop], add: [...edits.add] };
      asking.editRequest(changes);
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

  /** Starts a fill, for a reader or in the background; a probe's response is only for its reader until it is stored. */
  const begin = (
    { cached, asking, fillHead }: Prepared,
    stale: StoredResponse | null,
    reader: CacheReader | null,
    isProbe = false,
  ): void => {
    const received = receivedUrls(asking, stale?.asked);
    const asked = { ...cached.asked, received, purges: purges.countOf(cached.asked.zoneId) };
    const fill = new Fill(owner, { asked, exchange: asking, hasAuthorization: cached.facts.hasAuthorization, stale });
    if (isProbe) probes.set(fill.request, fill);
    else fills.set(placeOf(asked), fill);
    if (reader === null) fill.isBackground = true;
    else {
      fill.asker = reader;
      fill.join(reader);
    }
    fill.source = deps.launch(asking, withValidators(fillHead, stale), new FillResponse(fill));
  };

  /** Joins a running fill of the same response, or starts one. */
  const waitOrAsk = (prepared: Prepared, stale: StoredResponse | null): void => {
    const underWay = fills.get(placeOf(prepared.cached.asked));
    if (underWay === undefined) return begin(prepared, stale, prepared.reader);
    noteReceived(underWay.request.asked, prepared.asking);
    underWay.join(prepared.reader);
  };

  /**
   * One visitor's request, such as one with credentials or one that the origin refuses, must not keep a response out of the cache for
   * others: each request that is like any visitor's may still store it.
   */
  const mayProbe = ({ asked, facts }: CachedRequest, exchange: Exchange): boolean =>
    exchange.method === "GET" &&
    !facts.hasAuthorization &&
    !hasConditions(exchange) &&
    refusals.find(placeOf(asked), exchange.at_ms) !== null;

  const refresh = (prepared: Prepared, stored: StoredResponse): void => {
    if (!fills.has(placeOf(prepared.cached.asked))) begin(prepared, stored, null);
  };

  /** Why requests for this response must not wait for each other; null if they may. */
  const refusalOf = ({ asked, facts }: CachedRequest, exchange: Exchange, stored: StoredResponse | null): CacheStatus | null => {
    const status = stored === null ? "MISS" : "EXPIRED";
    const place = placeOf(asked);
    // A HEAD request should not wait for a whole body, nor a range request for a body that is too large.
    if (exchange.method === "HEAD" || (facts.hasRange && refusals.find(partsOf(place), exchange.at_ms) !== null)) return status;
    const underWay = fills.get(place);
    const isLate = underWay !== undefined && underWay.isWaiting && clock.nowMs() - underWay.startedMs > waitMs;
    return refusals.find(place, exchange.at_ms) ?? (isLate || underWay?.isForOne === true ? status : null);
  };

  /** Serves a response whose body is on disk: loads it into memory if it fits, else streams it. */
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

  const leave = ({ request }: Fill): void => {
    const place = placeOf(request.asked);
    if (fills.get(place)?.request === request) fills.delete(place);
    probes.delete(request);
  };

  /** Removes a changed response from the cache, and dooms a fill that started before the change. */
  const forget = (key: string): void => {
    shelves.dropKey(key);
    for (const fill of everyFill()) {
      if (fill.request.asked.key !== key) continue;
      fill.isDoomed = true;
      leave(fill);
    }
  };
  // The other threads of the process have their own caches.
  const peers = new BroadcastChannel(PEERS);
  peers.unref();
  peers.addEventListener("message", (event) => (event as Event & { readonly data: readonly string[] }).data.forEach(forget));

  purges.onPurged((isGone) => {
    shelves.sweep(isGone);
    for (const fill of everyFill()) {
      if (!isGone({ asked: fill.request.asked, tags: fill.response?.tags ?? null })) continue;
      fill.isDoomed = true;
      leave(fill);
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
      if (refusal !== null && mayProbe(cached, exchange)) {
        const prepared = prepare(request, cached);
        begin(prepared, stored, prepared.reader, true);
        return true;
      }
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
    respond(reader, stored, { from: (offset) => chunkFrom(stored.body, offset) }, status);
  }
}

/** A rule may forbid serving stale responses. */
const useFor = ({ at_ms: atMs, cacheRule: rule }: Exchange, { freshness }: StoredResponse): Use =>
  useAt(freshness, atMs, rule?.serve_stale?.disable_stale_while_updating !== true);

/** Asks origins for the visitor's codings in one normal form, so that visitors who write them differently share a response. */
function changeOfCodings(exchange: Exchange): readonly FieldChange[] {
  const lines = exchange.headers("accept-encoding");
  const asked = requestedCodings(lines);
  return asked === null || (lines.length === 1 && lines[0] === asked) ? [] : [fieldChange("Accept-Encoding", "set", asked)];
}

/** Key of the fill that equal requests share. */
const placeOf = ({ key, apart }: RequestKey): string => (apart === "" ? key : `${key}\n${apart}`);

/** Key for remembering that range requests must not wait for this fill. */
const partsOf = (place: string): string => `${place}\nparts`;

const originFormOf = ({ path, query }: RequestKey): string => (query === "" ? path : `${path}?${query}`);

/** Adds validators of the stale response to the head (RFC 9111 §4.3.1). */
function withValidators(originHead: string, stale: StoredResponse | null): string {
  if (stale === null) return originHead;
  const tag = stale.etag === null ? "" : `If-None-Match: ${stale.etag}\r\n`;
  const since = stale.lastModified === null ? "" : `If-Modified-Since: ${stale.lastModified}\r\n`;
  return `${originHead.slice(0, -2)}${tag}${since}\r\n`;
}
