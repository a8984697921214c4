import {
  type AnswerFormat,
  type Chat,
  refuseLogprobs,
  type Tool,
  type ToolCall,
  type ToolChoice,
  type Turn,
  withJsonInstruction,
} from "./chat.ts";
import { choosesItself, claudeCallId, claudeEffort, claudeStops, samplingOf, takesSchemas } from "./claude-models.ts";
import { claudeSchema } from "./claude-schema.ts";
import type { Part } from "./parts.ts";
import { thinkingBlock } from "./thoughts.ts";
import { inOrder, messagesOf } from "./turn-order.ts";
import { type Json, objectOf, type Reader, UntranslatableError } from "#gateway/http/json.ts";

/** The dialect requires a bound, OpenAI's does not; every model of the provider accepts this one. */
const TOKENS_MAX_DEFAULT = 4096;

/** A chat completion request as a request for messages. */
export function anthropicRequest(asked: Chat, model: string): Json {
  const chat = withJsonInstruction(asked);
  if (chat.choices !== 1) throw new UntranslatableError("n: this provider returns one choice per request");
  refuseLogprobs(chat);
  const effort = claudeEffort(chat.effort, model);
  const output = { ...(effort === undefined ? {} : { effort }), ...formatOf(chat.format, model) };
  const choice = claudeToolChoice(chat);
  const stop = claudeStops(chat.stop);
  const system = blocksOf(chat.system);
  const limits = limitsOf(chat, model);
  const { temperature, topP, topK } = samplingOf(model, { ...chat, topK: chat.body.number("top_k") }, isThinking(limits["thinking"]));
  const tier = chat.tier === undefined ? undefined : TIERS[chat.tier];
  const tools = [...chat.tools.map((tool) => toolOf(tool, model)), ...searchOf(chat.body)];
  return {
    model,
    ...limits,
    ...(system.length === 0 ? {} : { system }),
    messages: messagesOf(chat.turns, turnBlocks),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop.length === 0 ? {} : { stop_sequences: stop }),
    ...(chat.stream ? { stream: true } : {}),
    ...(chat.user === undefined ? {} : { metadata: { user_id: chat.user } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(chat.tools.length === 0 || choice === undefined ? {} : { tool_choice: choice }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    // A field of this provider that its users add to OpenAI requests.
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(tier === undefined ? {} : { service_tier: tier }),
  };
}

/** Header fields that some requests need: files of the provider are in a preview. */
export const anthropicHeaders = ({ turns }: Chat): Readonly<Record<string, string>> =>
  turns.some((turn) => "parts" in turn && turn.parts.some(({ kind }) => kind === "file"))
    ? { "anthropic-beta": "files-api-2025-04-14" }
    : {};

/** A mark on the request itself, for which the provider chooses the place; the clouds do not have it. */
export const wholeMark = ({ body }: Chat): Json => markOf(body.object("cache_control"));

/** Tiers that the provider has; it has no cheaper one. */
const TIERS: Readonly<Record<string, string>> = { auto: "auto", default: "standard_only" };

const isThinking = (thinking: unknown): boolean => thinking !== undefined && objectOf(thinking)?.["type"] !== "disabled";

/** OpenAI's search as the provider's own, which every model with searches has in this version. */
function searchOf(body: Reader): readonly Json[] {
  if (!body.has("web_search_options")) return [];
  const location = objectOf(body.object("web_search_options")?.["user_location"]);
  const place = location === undefined ? undefined : (objectOf(location["approximate"]) ?? location);
  return [
    {
      type: "web_search_20250305",
      name: "web_search",
      ...(place === undefined ? {} : { user_location: { ...place, type: "approximate" } }),
    },
  ];
}

const THINKING_TOKENS_MIN = 1024;

/** Thinking tokens count toward the answer's bound and must be fewer: a client's bound stays, the gateway's default is raised. */
export function limitsOf({ body, tokensMax }: Chat, model: string): Json {
  const thinking = ownThinking(body.object("thinking"), model);
  const budget = thinking?.["budget_tokens"];
  if (typeof budget !== "number") return { max_tokens: tokensMax ?? TOKENS_MAX_DEFAULT, ...(thinking === undefined ? {} : { thinking }) };
  const max = tokensMax ?? budget + TOKENS_MAX_DEFAULT;
  if (max <= THINKING_TOKENS_MIN) body.refuse("thinking", `needs max_tokens of more than ${THINKING_TOKENS_MIN}`);
  return { max_tokens: max, thinking: { ...thinking, budget_tokens: Math.min(budget, max - 1) } };
}

/** Models that choose themselves how long they think reject a budget, and keep their thoughts to themselves unless asked. */
const ownThinking = (thinking: Json | undefined, model: string): Json | undefined =>
  thinking?.["type"] === "enabled" && choosesItself(model) ? { type: "adaptive", display: thinking["display"] ?? "summarized" } : thinking;

/** Without texts of white space only, which the provider rejects. */
const blocksOf = (parts: readonly Part[]): readonly Json[] =>
  parts.filter((part) => part.kind !== "text" || part.text.trim() !== "").map(blockOf);

function turnBlocks(turn: Turn): readonly Json[] {
  if (turn.role === "tool") return [resultOf(turn.callId, turn.parts)];
  if (turn.role === "user") return blocksOf(turn.parts);
  return inOrder(turn).flatMap((said) => {
    if (said.kind === "thought") return [thinkingBlock(said.thought)];
    return said.kind === "part" ? blocksOf([said.part]) : [callOf(said.call)];
  });
}

const callOf = ({ id, name, input, cacheControl }: ToolCall): Json => ({
  type: "tool_use",
  id: claudeCallId(id),
  name,
  input,
  ...markOf(cacheControl),
});

/** The provider caches up to a whole result, so the last mark inside it is the result's. */
function resultOf(callId: string, parts: readonly Part[]): Json {
  const blocks = blocksOf(parts.map((part) => ({ ...part, cacheControl: undefined })));
  const mark = parts.findLast(({ cacheControl }) => cacheControl !== undefined)?.cacheControl;
  return { type: "tool_result", tool_use_id: claudeCallId(callId), ...(blocks.length === 0 ? {} : { content: blocks }), ...markOf(mark) };
}

const markOf = (cacheControl: Json | undefined): Json => (cacheControl === undefined ? {} : { cache_control: cacheControl });

const blockOf = (part: Part): Json => ({ ...unmarked(part), ...markOf(part.cacheControl) });

function unmarked(part: Part): Json {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "file")
    return { type: part.mediaType?.startsWith("image/") ? "image" : "document", source: { type: "file", file_id: part.id } };
  if (part.kind === "link") {
    if (/^gs:/i.test(part.url)) throw new UntranslatableError("messages: this provider does not read gs:// addresses");
    const isDocument = /\.pdf(?:[?#]|$)/i.test(part.url);
    return { type: isDocument ? "document" : "image", source: { type: "url", url: part.url } };
  }
  const { mediaType, data, name } = part;
  if (mediaType.startsWith("image/")) return { type: "image", source: { type: "base64", media_type: mediaType, data } };
  const title = name === undefined ? {} : { title: name };
  if (mediaType === "application/pdf") return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...title };
  if (mediaType.startsWith("text/")) {
    const text = Buffer.from(data, "base64").toString("utf8");
    return { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title };
  }
  throw new UntranslatableError(`messages: content of type ${mediaType} cannot be sent to this provider`);
}

function toolOf({ name, description, parameters, strict, cacheControl }: Tool, model: string): Json {
  const schema = { type: "object", properties: {}, ...parameters };
  const isStrict = strict === true && takesSchemas(model);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: isStrict ? claudeSchema(schema) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...markOf(cacheControl),
  };
}

const CHOICES: Readonly<Record<Exclude<ToolChoice["kind"], "one">, string>> = { auto: "auto", none: "none", required: "any" };

export function claudeToolChoice({ toolChoice, parallelToolCalls }: Chat): Json | undefined {
  const single = parallelToolCalls === false && toolChoice?.kind !== "none" ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === undefined) return parallelToolCalls === false ? { type: "auto", ...single } : undefined;
  return toolChoice.kind === "one" ? { type: "tool", name: toolChoice.name, ...single } : { type: CHOICES[toolChoice.kind], ...single };
}

function formatOf(format: AnswerFormat | undefined, model: string): Json {
  if (format?.kind !== "schema") return {};
  return { format: { type: "json_schema", schema: takesSchemas(model) ? claudeSchema(format.schema) : format.schema } };
}
