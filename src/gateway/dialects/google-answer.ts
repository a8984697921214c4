import {
  type AnswerFacts,
  type ChoiceContent,
  type Counts,
  type FinishReason,
  completionOf,
  errorOf,
  hasCounts,
  sumOf,
  tierOf,
  toolCall,
} from "./completion.ts";
import { googleImages, googleLogprobs, groundingMembers, textSignature } from "./google-extras.ts";
import { type Json, countOf, listOf, objectOf, objectsOf, textOf } from "#gateway/http/json.ts";

/** Generated content as a chat completion; undefined if the body is not one. */
export function googleAnswer(body: Json, facts: AnswerFacts): Json | undefined {
  const blocked = googleBlock(body);
  if (!Array.isArray(body["candidates"]) && blocked === undefined) return undefined;
  const own = googleFacts(body, facts);
  const choices = objectsOf(body["candidates"]).map((candidate, i) => choiceOf(candidate, own, i));
  const refused: ChoiceContent = { text: "", reasoning: "", calls: [], finish: "content_filter", refusal: blocked };
  return completionOf(own, choices.length === 0 ? [refused] : choices, googleCounts(body));
}

export const googleFacts = (body: Json, facts: AnswerFacts): AnswerFacts => ({
  ...facts,
  id: textOf(body["responseId"]) ?? facts.id,
  model: textOf(body["modelVersion"]) ?? facts.model,
});

function choiceOf(candidate: Json, facts: AnswerFacts, index: number): ChoiceContent {
  const parts = googleParts(candidate);
  const texts = (thought: boolean): string =>
    parts
      .filter((part) => (part["thought"] === true) === thought)
      .map((part) => textOf(part["text"]) ?? "")
      .join("");
  const calls = parts.filter((part) => objectOf(part["functionCall"]) !== undefined).map((part, i) => googleCall(part, facts, index, i));
  const text = texts(false);
  const images = googleImages(parts, 0);
  const more = { ...(images.length === 0 ? {} : { images }), ...groundingMembers(candidate, text, textSignature(parts)) };
  return {
    text,
    reasoning: texts(true),
    calls,
    finish: googleFinish(candidate["finishReason"], calls.length > 0),
    refusal: text === "" && calls.length === 0 && images.length === 0 ? googleRefusal(candidate) : undefined,
    logprobs: googleLogprobs(candidate),
    more,
  };
}

export const googleParts = (candidate: Json): readonly Json[] => objectsOf(objectOf(candidate["content"])?.["parts"]);

/**
 * Older models give their calls no id, but clients need one to name the result; the made id is the same in a stream and
 * in a whole answer.
 */
export function googleCall(part: Json, facts: AnswerFacts, choice: number, index: number): Json {
  const call = objectOf(part["functionCall"]) ?? {};
  const id = textOf(call["id"]) ?? `call_${facts.id}_${choice}_${index}`;
  return toolCall(id, textOf(call["name"]) ?? "", JSON.stringify(call["args"] ?? {}), textOf(part["thoughtSignature"]));
}

/** Reasons of a whole answer, and of one that is too long. All others mean that the answer is not what was asked for. */
const FINISHES: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  FINISH_REASON_UNSPECIFIED: "stop",
  MAX_TOKENS: "length",
};

/** A filter's reasons, which count even if a call is complete. */
const FILTERED = /^(?:IMAGE_.*|SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII)$/;

/** The provider has no finish reason for tool calls, and proxies in front of it name some: complete calls are there to be answered. */
export function googleFinish(reason: unknown, hasCalls: boolean): FinishReason {
  const named = typeof reason !== "string" ? "stop" : Object.hasOwn(FINISHES, reason) ? FINISHES[reason] : undefined;
  if (named === "length" || (typeof reason === "string" && FILTERED.test(reason))) return named ?? "content_filter";
  return hasCalls ? "tool_calls" : (named ?? "content_filter");
}

/**
 * Why a candidate without content ended early (a malformed call, a blocked image …), in the provider's words if it has any: without
 * them, a client that reads `content_filter` could not tell these cases apart.
 */
export function googleRefusal({ finishReason, finishMessage }: Json): string | undefined {
  const reason = textOf(finishReason);
  if (reason === undefined || Object.hasOwn(FINISHES, reason)) return undefined;
  const message = textOf(finishMessage);
  return message === undefined ? reason : `${reason}: ${message}`;
}

/** Why the provider refused the prompt; undefined if it did not. */
export function googleBlock(body: Json): string | undefined {
  const { blockReason, blockReasonMessage } = objectOf(body["promptFeedback"]) ?? {};
  const [reason, message] = [textOf(blockReason), textOf(blockReasonMessage)];
  return reason === undefined || message === undefined ? reason : `${reason}: ${message}`;
}

export function googleCounts(body: Json): Counts | undefined {
  const usage = objectOf(body["usageMetadata"]) ?? {};
  if (!hasCounts(usage)) return undefined;
  return {
    prompt: sumOf(usage["promptTokenCount"], usage["toolUsePromptTokenCount"]),
    completion: sumOf(usage["candidatesTokenCount"], usage["thoughtsTokenCount"]),
    cached: countOf(usage["cachedContentTokenCount"]),
    reasoning: countOf(usage["thoughtsTokenCount"]),
    tier: tierOf(usage["serviceTier"]),
  };
}

/** Errors are inside an array if the request asked for a stream. */
export function googleError(body: unknown, status: number): Json {
  const error = objectOf(objectOf(listOf(body)[0] ?? body)?.["error"]);
  return errorOf(
    textOf(error?.["message"]) ?? `the provider responded with status ${status}`,
    textOf(error?.["status"]) ?? "api_error",
    textOf(error?.["status"]) ?? error?.["code"],
  );
}
