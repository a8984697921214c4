import { Worker } from "node:worker_threads";
import type { ChunkList } from "#gateway/http/chunks.ts";
import type { Step } from "#gateway/request/plan.ts";
import { requestKind } from "#gateway/request/endpoint-types.ts";
import { streamKindOf } from "#gateway/streams/stream-formats.ts";
import { type CountedTexts, countLengths, type TokenCounts } from "./token-counts.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

export interface TokenEstimates {
  /**
   * Fills counts that the provider did not report with estimates: for a stream that the client left, or one without
   * counts. Undefined if nothing can or must be estimated. If a client waits for the end, it does not wait until the
   * tokenizer is loaded; lengths are used instead. Never rejects.
   */
  complete(step: Step, told: Usage, answer: Pick<ChunkList, "length" | "joined">, end: StreamEnd): Promise<Usage> | Usage | undefined;
  /** Resolves when all pending estimates are done. */
  close(): Promise<void>;
}

/** The provider completed the stream, broke it off, or the client left. */
export type StreamEnd = "finished" | "cut" | "client gone";

/** Bytes of an answer that are kept for the estimate. */
export const ESTIMATE_BYTES_MAX = 256 * 1024;

export function createTokenEstimates(): TokenEstimates {
  const counter = createTokenCounter();
  return {
    complete: (step, told, answer, end) => {
      // Some providers report the input tokens at the start of a stream, together with the first output token.
      const hasOutputCount = told.tokensOut !== null && (end === "finished" || !step.usage.isCountedAtEnd);
      if (answer.length === 0 || (told.tokensIn !== null && hasOutputCount)) return undefined;
      const isEmbedding = requestKind(step.path).model_type === "embedding";
      if (isEmbedding ? told.tokensIn !== null : streamKindOf(step.path) === undefined) return undefined;
      const texts = {
        request: told.tokensIn === null && step.body.kind === "whole" ? step.body.bytes : null,
        // An embedding has no output tokens to pay for.
        answer: hasOutputCount || isEmbedding ? null : answer.joined(),
      };
      const completed = ({ tokensIn, tokensOut }: TokenCounts): Usage => ({
        ...told,
        tokensIn: told.tokensIn ?? tokensIn,
        tokensOut: hasOutputCount ? told.tokensOut : Math.max(told.tokensOut ?? 0, tokensOut ?? 0),
      });
      const counted = counter.count(texts, end !== "client gone");
      return counted instanceof Promise ? counted.then(completed) : completed(counted);
    },
    close: () => counter.close(),
  };
}

interface TokenCounter {
  /** `isUrgent`: do not wait for the thread if it is not ready yet. */
  count(texts: CountedTexts, isUrgent: boolean): Promise<TokenCounts> | TokenCounts;
  close(): Promise<void>;
}

interface Asked {
  readonly texts: CountedTexts;
  readonly bytes: number;
  readonly resolve: (counts: TokenCounts) => void;
}

/** Bytes of texts that may wait to be counted; for further texts, lengths are used. */
const ASKED_BYTES_MAX = 64 * 1024 * 1024;
const ANSWER_MS = 10_000;
/** The thread takes 80 MB; it ends after this time without work. */
const QUIET_MS = 60_000;
const CLOSING_MS = 10;

/** Counts on one thread, which runs only while texts are counted now and then. */
function createTokenCounter(): TokenCounter {
  const asked = new Map<number, Asked>();
  let bytesAsked = 0;
  let thread: Worker | undefined;
  let isReady = false;
  let last = 0;
  let limit: NodeJS.Timeout | undefined;

  const settle = (id: number, counts: TokenCounts | undefined): void => {
    const one = asked.get(id);
    if (one === undefined) return;
    asked.delete(id);
    bytesAsked -= one.bytes;
    one.resolve(counts ?? countLengths(one.texts));
  };
  const end = (): void => {
    clearTimeout(limit);
    const ended = thread;
    thread = undefined;
    isReady = false;
    for (const id of Array.from(asked.keys())) settle(id, undefined);
    void ended?.terminate();
  };
  /** Restarts the timer after each question and answer: it ends a thread that does not answer, or that is not used. */
  const watch = (): void => {
    clearTimeout(limit);
    limit = setTimeout(end, asked.size > 0 ? ANSWER_MS : QUIET_MS);
    if (asked.size === 0) limit.unref();
  };
  const open = (): Worker => {
    const opened = new Worker(new URL(import.meta.resolve("#gateway/costs/token-count-worker.ts")), { name: "token-counts" });
    const isCurrent = (): boolean => thread === opened;
    opened.unref();
    opened.on("message", ({ id, counts }: { readonly id: number; readonly counts?: TokenCounts }) => {
      if (!isCurrent()) return;
      isReady = true;
      settle(id, counts);
      watch();
    });
    for (const event of ["error", "exit"]) opened.on(event, () => void (isCurrent() && end()));
    return opened;
  };

  return {
    count: (texts, isUrgent) => {
      thread ??= open();
      const bytes = (texts.request?.length ?? 0) + (texts.answer?.length ?? 0);
      if ((isUrgent && !isReady) || bytesAsked + bytes > ASKED_BYTES_MAX) return countLengths(texts);
      const { promise, resolve } = Promise.withResolvers<TokenCounts>();
      const id = ++last;
      asked.set(id, { texts, bytes, resolve });
      bytesAsked += bytes;
      thread.postMessage({ id, texts });
      watch();
      return promise;
    },
    close: async () => {
      while (asked.size > 0) await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
      end();
    },
  };
}
