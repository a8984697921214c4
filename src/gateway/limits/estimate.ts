import type { Costs } from "#gateway/costs/costs.ts";
import type { Step } from "#gateway/request/plan.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";
import { answerBound, UNBOUND } from "./output-limit.ts";
import type { SpendEstimate } from "./ledger.ts";
import { longestAnswer } from "./model-output-limits.ts";

/** Upper bounds of the cost of a step, as far as they are known before it is sent. */
export interface SpendEstimates {
  /** 0 if the model has no price, because its cost is not counted later either. */
  of(step: Step): SpendEstimate;
  /** Takes the usage of an answer into account; later estimates are not lower. */
  learn(step: Step, usage: Usage): void;
}

/** Text has at least three bytes per token; other content, such as an image, counts fewer tokens per byte. */
const BYTES_PER_TOKEN = 3;
/**
 * For a request without a bound: twice the longest answer of the model so far, and at least this; before the model has
 * given enough answers, the longest answer that it can give, so that a first burst does not exceed a limit either.
 */
const TOKENS_OUT_LEAST = 1024;
const ANSWERS_HEARD = 16;
const MODELS_MAX = 1000;

export function createSpendEstimates(costs: Costs): SpendEstimates {
  const heard = new Map<string, { readonly answers: number; readonly longest: number }>();
  /** By provider and model: tokens that a provider counted beyond those estimated for a request, because it adds text. */
  const added = new Map<string, number>();
  const guess = (provider: string, model: string): number => {
    const { answers, longest } = heard.get(`${provider}/${model}`) ?? { answers: 0, longest: 0 };
    return Math.max(answers < ANSWERS_HEARD ? longestAnswer(model) : TOKENS_OUT_LEAST, longest * 2);
  };
  return {
    of: (step) => {
      const { body, provider, model, options } = step;
      const bytes = body.kind === "whole" ? body.bytes : body.head;
      const tokensIn = tokensInOf(step) + (added.get(`${provider}/${model}`) ?? 0);
      const { tokens, answers } = body.kind === "whole" ? answerBound(step.path, bytes) : UNBOUND;
      const tokensOut = (tokens ?? guess(provider, model)) * answers;
      const dollars = costs.of(step, { tokensIn, tokensOut }, false).cost ?? 0;
      const isKnown = options.customCost !== undefined && "total" in options.customCost;
      return { dollars, isUpperBound: isKnown || tokens !== undefined };
    },
    learn: (step, { tokensIn, tokensOut }) => {
      const name = `${step.provider}/${step.model}`;
      if (tokensOut !== null) {
        const { answers = 0, longest = 0 } = heard.get(name) ?? {};
        remember(heard, name, { answers: answers + 1, longest: Math.max(longest, tokensOut) });
      }
      const more = (tokensIn ?? 0) - tokensInOf(step);
      if (more > (added.get(name) ?? 0)) remember(added, name, more);
    },
  };
}

const tokensInOf = ({ body }: Step): number =>
  Math.ceil((body.kind === "whole" ? body.bytes.length : Number(body.length ?? body.head.length)) / BYTES_PER_TOKEN);

function remember<T>(known: Map<string, T>, name: string, value: T): void {
  const [oldest] = known.size < MODELS_MAX || known.has(name) ? [] : known.keys();
  if (oldest !== undefined) known.delete(oldest);
  known.set(name, value);
}
