import { type Json, countOf } from "#gateway/http/json.ts";

/** Identity of an answer; `createdSeconds` is Unix time. */
export interface AnswerFacts {
  /** Used if the provider gives its answers no id. */
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
  readonly includeUsage: boolean;
}

/** OpenAI's names of the reasons why a choice ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export interface Counts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly cacheWritten?: number;
  readonly reasoning?: number;
  /** The service tier of the answer by OpenAI's names; absent if the provider does not tell one. */
  readonly tier?: string | undefined;
}

/** Names of providers for OpenAI's tiers. */
const TIERS: Readonly<Record<string, string>> = {
  standard: "default",
  default: "default",
  priority: "priority",
  flex: "flex",
  batch: "batch",
};

export function tierOf(name: unknown): string | undefined {
  const plain = typeof name === "string" ? name.toLowerCase() : "";
  return Object.hasOwn(TIERS, plain) ? TIERS[plain] : undefined;
}

const tierMembers = ({ tier }: Counts): Json => (tier === undefined ? {} : { service_tier: tier });

/** Whether the provider counted: zeros in its place would be read as a free answer. */
export const hasCounts = (usage: Json): boolean => Object.values(usage).some((value) => typeof value === "number");

/** OpenAI's `usage`: cached tokens are part of the prompt, reasoning tokens part of the completion. */
export const usageOf = ({ prompt, completion, cached = 0, cacheWritten = 0, reasoning = 0 }: Counts): Json => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, ...(cacheWritten === 0 ? {} : { cache_write_tokens: cacheWritten }) },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

export interface ChoiceContent {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Json[];
  readonly finish: FinishReason;
  readonly refusal?: string | undefined;
  /** Probabilities of its tokens in OpenAI's shape. */
  readonly logprobs?: Json | undefined;
  /** Members of the message that OpenAI's API does not have. */
  readonly more?: Json | undefined;
}

export const toolCall = (id: string, name: string, args: string, signature?: string): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
  ...signatureMembers(signature),
});

/** Where Google's own OpenAI-compatible endpoint has a signature. */
export const signatureMembers = (signature: string | undefined): Json =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

const choiceOf = (index: number, { text, reasoning, calls, finish, refusal, more, logprobs }: ChoiceContent): Json => ({
  index,
  message: {
    role: "assistant",
    content: text === "" && (calls.length > 0 || refusal !== undefined) ? null : text,
    refusal: refusal ?? null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...more,
  },
  logprobs: logprobs ?? null,
  finish_reason: finish,
});

/** A whole answer in the shape of a chat completion. */
export const completionOf = (facts: AnswerFacts, choices: readonly ChoiceContent[], counts: Counts | undefined): Json => ({
  id: facts.id,
  object: "chat.completion",
  created: facts.createdSeconds,
  model: facts.model,
  choices: choices.map((choice, index) => choiceOf(index, choice)),
  ...(counts === undefined ? {} : { usage: usageOf(counts), ...tierMembers(counts) }),
});

/** One chunk of a streamed response. */
export const chunkOf = (
  facts: AnswerFacts,
  index: number,
  delta: Json,
  finish: FinishReason | null = null,
  logprobs: Json | null = null,
): Json => ({
  id: facts.id,
  object: "chat.completion.chunk",
  created: facts.createdSeconds,
  model: facts.model,
  choices: [{ index, delta, logprobs, finish_reason: finish }],
  ...(facts.includeUsage ? { usage: null } : {}),
});

/** The chunk with the counts, which is the last one if the client asked for it and the provider counted. */
export const usageChunksOf = (facts: AnswerFacts, counts: Counts | undefined): readonly Json[] =>
  facts.includeUsage && counts !== undefined
    ? [
        {
          id: facts.id,
          object: "chat.completion.chunk",
          created: facts.createdSeconds,
          model: facts.model,
          choices: [],
          usage: usageOf(counts),
          ...tierMembers(counts),
        },
      ]
    : [];

/** An error in OpenAI's shape. In some dialects `code` is a number. */
export const errorOf = (message: string, type: string, code: unknown = null): Json => ({
  error: { message, type, param: null, code: typeof code === "number" ? String(code) : (code ?? null) },
});

export const sumOf = (...values: readonly unknown[]): number => values.reduce<number>((all, value) => all + countOf(value), 0);
