import { Worker } from "node:worker_threads";
import type { ChunkList } from "#gateway/http/chunks.ts";
import type { Step } from "#gateway/request/plan.ts";
import { requestKind } from "#gateway/request/endpoint-types.ts";
import { streamKindOf } from "#gateway/streams/stream-formats.ts";
import { type CountedTexts, countLengths, type TokenCounts } from "./token-counts.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

export interface TokenEstimates {
  /**
   * Counts with guesses where the provider told none: of a stream that nobody waited for, or of one that never tells. Undefined
   * where nothing can or need be guessed. Where a client waits for the end it does not wait for the tokenizer to be loaded: then
   * lengths are taken. Never rejects.
   */
  complete(step: Step, told: Usage, answer: Pick<ChunkList, "length" | "joined">, end: StreamEnd): Promise<Usage> | Usage | undefined;
  /** Resolves when all that is under way is told. */
  close(): Promise<void>;
}

/** The provider came to its end, left before it, or the client did. */
export type StreamEnd = "finished" | "cut" | "client gone";

/** Bytes of an answer that are kept for it. */
export const ANSWER_BYTES_KEPT = 256 * 1024;

export function createTokenEstimates(): TokenEstimates {
  const counter = createTokenCounter();
  return {
    complete: (step, told, answer, end) => {
      // Some tell what went in at the start of a stream, and the first token with it.
      const hasOutputCount = told.tokensOut !== null && (end === "finished" || !step.usage.isCountedAtEnd);
      if (answer.length === 0 || (told.tokensIn !== null && hasOutputCount)) return undefined;
      const isEmbedding = requestKind(step.path).model_type === "embedding";
      if (isEmbedding ? told.tokensIn !== null : streamKindOf(step.path) === undefined) return undefined;
      const texts = {
        request: told.tokensIn === null && step.body.kind === "whole" ? step.body.bytes : null,
        // Numbers, of which nobody pays for the writing.
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
  /** `isUrgent`: at once, where the thread that counts is not there yet. */
  count(texts: CountedTexts, isUrgent: boolean): Promise<TokenCounts> | TokenCounts;
  close(): Promise<void>;
}

interface Asked {
  readonly texts: CountedTexts;
  readonly bytes: number;
  readonly resolve: (counts: TokenCounts) => void;
}

/** Texts on their way to be counted; of more, lengths are taken. */
const ASKED_BYTES_MAX = 64 * 1024 * 1024;
const ANSWER_MS = 10_000;
/** The thread takes 80 MB, which are given back when nothing is counted for so long. */
const QUIET_MS = 60_000;
const CLOSING_MS = 10;

/** One thread, which is there while something is counted now and then. */
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
  /** From the last question or answer on: a thread that says nothing is given up, and one that is not asked is ended. */
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
