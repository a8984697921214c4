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

/** A whole message as a chat completion; undefined if the body is not a message. */
export function anthropicAnswer(body: Json, facts: AnswerFacts): Json | undefined {
  if (body["type"] !== "message" || !Array.isArray(body["content"])) return undefined;
  const blocks = objectsOf(body["content"]);
  const joined = (type: string, key: string): string =>
    blocks
      .filter((block) => block["type"] === type)
      .map((block) => textOf(block[key]) ?? "")
      .join("");
  const calls = blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => toolCall(textOf(id) ?? "", textOf(name) ?? "", JSON.stringify(input ?? {})));
  return completionOf(
    { ...facts, id: textOf(body["id"]) ?? facts.id, model: textOf(body["model"]) ?? facts.model },
    [
      {
        text: joined("text", "text"),
        reasoning: joined("thinking", "thinking"),
        calls,
        finish: anthropicFinish(body["stop_reason"]),
        more: { ...thinkingMembers(thoughtsOf(blocks)), ...annotationMembers(annotationsOf(blocks)) },
      },
    ],
    anthropicCounts(objectOf(body["usage"]) ?? {}),
  );
}

function annotationsOf(blocks: readonly Json[]): readonly Json[] {
  let at = 0;
  return blocks.flatMap(({ type, text, citations }) => {
    const from = at;
    if (type === "text") at += textOf(text)?.length ?? 0;
    return objectsOf(citations).flatMap((citation) => citedPage(citation, from, at));
  });
}

/** A page that the model found, as OpenAI's citation of the text between two places. */
export function citedPage({ type, url, title }: Json, start_index: number, end_index: number): readonly Json[] {
  if (type !== "web_search_result_location" || typeof url !== "string") return [];
  return [{ type: "url_citation", url_citation: { url, title: textOf(title) ?? "", start_index, end_index } }];
}

const annotationMembers = (annotations: readonly Json[]): Json => (annotations.length === 0 ? {} : { annotations });

function thoughtsOf(blocks: readonly Json[]): readonly Thought[] {
  const said = new PlaceCounter();
  return blocks.flatMap(({ type, text, thinking, signature, data }): Thought[] => {
    if (type === "text") said.text += textOf(text)?.length ?? 0;
    else if (type === "tool_use") said.calls++;
    const after = said.place;
    if (type === "thinking") return [{ kind: "signed", text: textOf(thinking) ?? "", signature: textOf(signature) ?? "", after }];
    return type === "redacted_thinking" ? [{ kind: "hidden", data: textOf(data) ?? "", after }] : [];
  });
}

const FINISHES: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export const anthropicFinish = (reason: unknown): FinishReason =>
  typeof reason === "string" && Object.hasOwn(FINISHES, reason) ? (FINISHES[reason] as FinishReason) : "stop";

/** The provider counts tokens read from or written to its cache separately. */
export const anthropicCounts = (usage: Json): Counts | undefined =>
  hasCounts(usage)
    ? {
        prompt: sumOf(usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]),
        completion: countOf(usage["output_tokens"]),
        cached: countOf(usage["cache_read_input_tokens"]),
        cacheWritten: countOf(usage["cache_creation_input_tokens"]),
        reasoning: countOf(objectOf(usage["output_tokens_details"])?.["thinking_tokens"]),
        tier: tierOf(usage["service_tier"]),
      }
    : undefined;

export function anthropicError(body: unknown, status: number): Json {
  const error = objectOf(objectOf(body)?.["error"]);
  const type = textOf(error?.["type"]) ?? "api_error";
  return errorOf(textOf(error?.["message"]) ?? `the provider responded with status ${status}`, type, type);
}
