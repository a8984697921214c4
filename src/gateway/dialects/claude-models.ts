import { callIdFor } from "#gateway/http/identifiers.ts";

/**
 * What Anthropic's models accept, by their names at Anthropic and at the clouds. Names are compared with the older models: one that is
 * not known counts as the newest, because each generation has rejected more than the one before it.
 */

/** An id of a tool call as Anthropic and Bedrock accept it. */
export const claudeCallId = (id: string): string => callIdFor(id, /^[A-Za-z0-9_-]{1,64}$/, 32);

const isClaude = (model: string): boolean => model.includes("claude");

/** Older models, which reject the effort field. */
const WITHOUT_EFFORT = /claude-(?:instant|[23]|opus-4(?![-.][5-9])|(?:sonnet|haiku)-4(?![-.][6-9]))/;

/** The first models with the field, which reject its highest levels. */
const WITHOUT_XHIGH = /claude-(?:opus-4[-.][56]|sonnet-4[-.]6)/;
const WITHOUT_MAX = /claude-opus-4[-.]5/;

/** The model's name of an effort, by OpenAI's names; undefined without one: the provider does not think unless asked (`none`). */
export function claudeEffort(effort: string | undefined, model: string): string | undefined {
  if (effort === undefined || WITHOUT_EFFORT.test(model)) return undefined;
  if (effort === "minimal") return "low";
  if ((effort === "xhigh" && WITHOUT_XHIGH.test(model)) || (effort === "max" && WITHOUT_MAX.test(model))) return "high";
  return /^(?:low|medium|high|xhigh|max)$/.test(effort) ? effort : undefined;
}

const WITHOUT_SCHEMAS = /claude-(?:instant|v?[23]|opus-4(?![-.][1-9](?!\d))|(?:sonnet|haiku)-4(?![-.][5-9](?!\d)))/;
/** Whether the model follows a JSON schema strictly, in its answer and in its tools. */
export const takesSchemas = (model: string): boolean => isClaude(model) && !WITHOUT_SCHEMAS.test(model);

const WITH_SAMPLING = /claude-(?:instant|v?[23]|opus-4(?![-.][7-9](?!\d))|(?:sonnet|haiku)-4)/;
/** Newer models choose how random they are, and how long they think: they reject fields that set either. */
export const choosesItself = (model: string): boolean => isClaude(model) && !WITH_SAMPLING.test(model);

const WITH_BOTH = /claude-(?:instant|v?[23]|(?:opus|sonnet|haiku)-4(?![-.][1-9](?!\d)))/;
const takesBoth = (model: string): boolean => !isClaude(model) || WITH_BOTH.test(model);

/** Models refuse stop sequences of white space only; the provider's own endpoint for OpenAI's clients ignores them. */
export const claudeStops = (stop: readonly string[]): readonly string[] => stop.filter((text) => text.trim() !== "");

interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
}

/**
 * The fields for randomness that the model accepts: none beside thoughts, but for values that change nothing, and from some models on
 * either the temperature or the other one. OpenAI's range of temperatures ends at 2, this one at 1.
 */
export function samplingOf(model: string, { temperature, topP, topK }: Sampling, isThinking: boolean): Sampling {
  if (choosesItself(model)) return {};
  const most = temperature === undefined ? {} : { temperature: Math.min(1, temperature) };
  if (isThinking)
    return {
      ...(most.temperature === 1 ? most : {}),
      ...(topP !== undefined && topP >= 0.95 && topP < 1 && most.temperature !== 1 ? { topP } : {}),
    };
  const isOne = most.temperature !== undefined && !takesBoth(model);
  return { ...most, ...(topP === undefined || isOne ? {} : { topP }), ...(topK === undefined ? {} : { topK }) };
}
