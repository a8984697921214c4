import {
  type AnswerFacts,
  type Counts,
  type FinishReason,
  completionOf,
  errorOf,
  hasCounts,
  sumOf,
  tierOf,
  toolCall,
} from "./completion.ts";
import { PlaceCounter, type Thought, thinkingMembers } from "./thoughts.ts";
import { type Json, countOf, objectOf, objectsOf, textOf } from "#gateway/http/json.ts";

/** An answer of Converse as a chat completion; undefined if the body is not one. */
export function bedrockAnswer(body: Json, facts: AnswerFacts): Json | undefined {
  const content = objectOf(objectOf(body["output"])?.["message"])?.["content"];
  if (!Array.isArray(content)) return undefined;
  const blocks = objectsOf(content);
  const text = blocks.map((block) => textOf(block["text"]) ?? "").join("");
  const reasoning = blocks
    .map((block) => textOf(objectOf(objectOf(block["reasoningContent"])?.["reasoningText"])?.["text"]) ?? "")
    .join("");
  const calls = blocks.flatMap((block) => {
    const call = objectOf(block["toolUse"]);
    if (call === undefined) return [];
    return [toolCall(textOf(call["toolUseId"]) ?? "", textOf(call["name"]) ?? "", JSON.stringify(call["input"] ?? {}))];
  });
  return completionOf(
    facts,
    [{ text, reasoning, calls, finish: bedrockFinish(body["stopReason"]), more: thinkingMembers(thoughtsOf(blocks)) }],
    bedrockCounts(body),
  );
}

function thoughtsOf(blocks: readonly Json[]): readonly Thought[] {
  const said = new PlaceCounter();
  return blocks.flatMap((block) => {
    said.text += textOf(block["text"])?.length ?? 0;
    if (objectOf(block["toolUse"]) !== undefined) said.calls++;
    return thoughtOf(block).map((thought): Thought => ({ ...thought, after: said.place }));
  });
}

/** Only models that sign their thoughts want them back. */
function thoughtOf(block: Json): readonly Thought[] {
  const content = objectOf(block["reasoningContent"]) ?? {};
  const data = textOf(content["redactedContent"]);
  if (data !== undefined) return [{ kind: "hidden", data }];
  const { text, signature } = objectOf(content["reasoningText"]) ?? {};
  return typeof signature === "string" ? [{ kind: "signed", text: textOf(text) ?? "", signature }] : [];
}

const FINISHES: Readonly<Record<string, FinishReason>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
};

export const bedrockFinish = (reason: unknown): FinishReason =>
  typeof reason === "string" && Object.hasOwn(FINISHES, reason) ? (FINISHES[reason] as FinishReason) : "stop";

/** The provider counts tokens read from or written to its cache separately. */
export function bedrockCounts(answer: Json): Counts | undefined {
  const usage = objectOf(answer["usage"]) ?? {};
  if (!hasCounts(usage)) return undefined;
  return {
    prompt: sumOf(usage["inputTokens"], usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]),
    completion: countOf(usage["outputTokens"]),
    cached: countOf(usage["cacheReadInputTokens"]),
    cacheWritten: countOf(usage["cacheWriteInputTokens"]),
    tier: tierOf(objectOf(answer["serviceTier"])?.["type"]),
  };
}

/** Models of other makers may answer with their own errors. */
export function bedrockError(body: unknown, status: number): Json {
  const error = objectOf(body) ?? {};
  const inner = objectOf(error["error"]) ?? {};
  const type = textOf(error["__type"])?.split("#").at(-1) ?? textOf(inner["type"]) ?? "api_error";
  const message = [error["message"], error["Message"], inner["message"]].find((text) => typeof text === "string");
  return errorOf(typeof message === "string" ? message : `the provider responded with status ${status}`, type, type);
}
