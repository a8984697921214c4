import { answerText, plainText } from "./guard/texts.ts";
import type { Step } from "./plan.ts";
import { streamKindOf } from "./stream-kinds.ts";
import { parsedJson } from "./translate/json.ts";
import type { Usage } from "./usage-shapes.ts";

export interface Estimates {
  /**
   * Counts with guesses where the provider told none: of a stream that nobody waited for, or of one that never tells.
   * Undefined where nothing can or need be guessed.
   */
  complete(step: Step, told: Usage, answer: readonly Buffer[], isFinished: boolean): Usage | undefined;
}

/** Of a longer text only so much is counted, and the rest is taken to be alike. */
const COUNTED_CHARACTERS_MAX = 8 * 1024;
/** The tokenizer takes the square of a word's length: 13 s for 32,000 letters without a space. So it gets pieces, cut between words where there are any. */
const PIECES = /[^]{1,128}(?=\s|$)|[^]{1,128}/g;
/** Names of special tokens are text like any other here; the tokenizer throws at them otherwise. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
/** Of most languages, until the tokenizer is there. */
const CHARACTERS_A_TOKEN = 4;
/** Bytes of an answer that are kept for it. */
export const ANSWER_BYTES_KEPT = 256 * 1024;

/** Without it lengths are taken. */
const ignore = (): void => undefined;

type CountTokens = (text: string) => number;

/** The tokenizer takes 80 MB, so that it is loaded only once something must be guessed. */
export function createEstimates(): Estimates {
  let countTokens: CountTokens | undefined;
  let loading: Promise<void> | undefined;
  const count = (text: string): number => {
    loading ??= import("gpt-tokenizer/encoding/o200k_base").then(({ countTokens: ofPiece }) => {
      countTokens = (text) => (text.match(PIECES) ?? []).reduce((sum, piece) => sum + ofPiece(piece, AS_TEXT), 0);
    }, ignore);
    if (text === "") return 0;
    const counted = text.slice(0, COUNTED_CHARACTERS_MAX);
    const tokens = countTokens?.(counted) ?? counted.length / CHARACTERS_A_TOKEN;
    return Math.ceil((tokens * text.length) / counted.length);
  };
  return {
    complete: (step, told, answer, isFinished) => {
      // Some tell what went in at the start of a stream, and the first token with it.
      const isOutTold = told.tokensOut !== null && (isFinished || !step.usage.isCountedAtEnd);
      if (answer.length === 0 || (told.tokensIn !== null && isOutTold) || streamKindOf(step.path) === undefined) return undefined;
      return {
        ...told,
        tokensIn: told.tokensIn ?? (step.body.kind === "whole" ? count(plainText(parsedJson(step.body.bytes.toString("utf8")))) : null),
        tokensOut: isOutTold ? told.tokensOut : Math.max(told.tokensOut ?? 0, count(answerText(answer))),
      };
    },
  };
}
