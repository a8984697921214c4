import type { Clock } from "#kernel/clock.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { Step } from "#gateway/request/plan.ts";
import { answersByItself, cacheKey, type CacheScope, isStream } from "./cache-key.ts";
import type { DiskAnswers } from "./disk-store.ts";
import { CacheFill } from "./fill.ts";
import type { CachedResponse } from "./cached-response.ts";

/** Answers that are sent again without a request to the provider. */
export interface AnswerCache {
  /** Undefined if the step's answer may neither be looked up nor stored. Never rejects. */
  find(step: Step, scope: CacheScope): CacheLookup | Promise<CacheLookup> | undefined;
  /** Resolves when answers stored by earlier processes can be found. */
  ready(): Promise<void>;
  /** Resolves when all stored answers are on disk. */
  close(): Promise<void>;
}

/** A stored answer, or the means to store a fresh one. */
export type CacheLookup = { readonly stored: CachedResponse } | { readonly fill: CacheFill };

/** Memory that one answer takes besides its bytes. */
const ENTRY_BYTES = 512;
/** Milliseconds that a request waits for an equal earlier one. */
const WAIT_MS_MAX = 60_000;

export interface AnswerCacheDeps {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly memoryBytesMax: number;
  /** Resolves with undefined if nothing is stored on disk. */
  readonly disk: Promise<DiskAnswers | undefined>;
}

/**
 * Stores answers in memory, least recently used first out, and on disk. Of equal concurrent requests, one asks the
 * provider and the others wait for its answer; streams do not wait, because their first byte matters more.
 */
export function createAnswerCache({ clock, metrics, memoryBytesMax, disk }: AnswerCacheDeps): AnswerCache {
  const kept = new Map<string, CachedResponse>();
  const held = metrics.gauge("selvedge_gateway_cache_bytes", "Provider responses cached in memory");
  const count = (result: string): Metric =>
    metrics.counter("selvedge_gateway_cache_total", "Requests whose responses may be cached", { result });
  const counters = { hit: count("hit"), miss: count("miss"), stored: count("stored") };
  /** Requests under way, by key. Each resolves when its answer is stored, or when waiting is of no use. */
  const asking = new Map<string, Promise<void>>();
  let files: DiskAnswers | undefined;
  // If the directory cannot be read, nothing is stored on disk; requests are answered all the same.
  const ready = disk.then(
    (opened) => void (files = opened),
    () => undefined,
  );

  const drop = (key: string, answer: CachedResponse): void => {
    kept.delete(key);
    held.value -= answer.bytes + ENTRY_BYTES;
  };
  const keep = (key: string, answer: CachedResponse): void => {
    const before = kept.get(key);
    if (before !== undefined) drop(key, before);
    if (answer.bytes + ENTRY_BYTES > memoryBytesMax / 4) return;
    kept.set(key, answer);
    held.value += answer.bytes + ENTRY_BYTES;
    for (const [oldest, old] of kept) {
      if (held.value <= memoryBytesMax) break;
      drop(oldest, old);
    }
  };
  const inMemory = (key: string): CachedResponse | undefined => {
    const answer = kept.get(key);
    if (answer === undefined) return undefined;
    drop(key, answer);
    if (answer.expiresMs <= clock.nowMs()) return undefined;
    keep(key, answer);
    return answer;
  };

  const hit = (answer: CachedResponse): CacheLookup => {
    counters.hit.value++;
    return { stored: answer };
  };
  const ask = (key: string, ttlSeconds: number): CacheLookup => {
    counters.miss.value++;
    let done = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (done = resolve));
    if (!asking.has(key)) asking.set(key, waiting);
    const fill = new CacheFill((answer) => {
      if (answer !== undefined) {
        counters.stored.value++;
        const full = { ...answer, expiresMs: clock.nowMs() + ttlSeconds * 1000 };
        keep(key, full);
        files?.put(key, full);
      }
      if (asking.get(key) === waiting) asking.delete(key);
      done();
    });
    return { fill };
  };
  const findLater = async (key: string, ttlSeconds: number, first: Promise<void> | undefined): Promise<CacheLookup> => {
    if (first !== undefined) await within(first, WAIT_MS_MAX);
    const answer = inMemory(key) ?? (await files?.get(key, clock.nowMs()));
    if (answer === undefined) return ask(key, ttlSeconds);
    if (!kept.has(key)) keep(key, answer);
    return hit(answer);
  };

  return {
    find: (step, scope) => {
      const { options, method, body, target } = step;
      if (options.cacheTtlSeconds === 0 || method !== "POST" || body.kind !== "whole") return undefined;
      if (!options.isCacheAsked && !answersByItself(target)) return undefined;
      const key = cacheKey(step, body.bytes, scope);
      const answer = inMemory(key);
      if (answer !== undefined) return hit(answer);
      const first = isStream(body.bytes) ? undefined : asking.get(key);
      if (first !== undefined || files?.has(key, clock.nowMs()) === true) return findLater(key, options.cacheTtlSeconds, first);
      return ask(key, options.cacheTtlSeconds);
    },
    ready: () => ready,
    close: async () => files?.settled(),
  };
}

function within(promise: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
