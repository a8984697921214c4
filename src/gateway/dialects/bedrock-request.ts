import { claudeToolChoice, limitsOf } from "./anthropic-request.ts";
import { type Chat, refuseLogprobs, type Tool, type ToolChoice, type Turn, withJsonInstruction } from "./chat.ts";
import { claudeCallId, claudeEffort, claudeStops, samplingOf, takesSchemas } from "./claude-models.ts";
import { claudeSchema } from "./claude-schema.ts";
import type { Part } from "./parts.ts";
import type { Thought } from "./thoughts.ts";
import { inOrder, messagesOf } from "./turn-order.ts";
import { type Json, objectOf, parsedJson, UntranslatableError } from "#gateway/http/json.ts";

/** A chat completion request as one of Converse (Amazon Bedrock, `POST /model/{id}/converse`). */
export function bedrockRequest(asked: Chat, model: string): Json {
  const chat = withJsonInstruction(asked);
  if (chat.choices !== 1) throw new UntranslatableError("n: this provider returns one choice per request");
  refuseLogprobs(chat);
  if (chat.body.has("web_search_options")) chat.body.refuse("web_search_options", "this provider does not search");
  const blocks = createBlocks();
  const { tokensMax, thinking } = thinkingOf(chat, model);
  const isThinking = thinking !== undefined && objectOf(thinking)?.["type"] !== "disabled";
  const { temperature, topP, topK } = samplingOf(model, { ...chat, topK: chat.body.number("top_k") }, isThinking);
  const stop = isAnthropic(model) ? claudeStops(chat.stop) : chat.stop;
  const inference = {
    ...(tokensMax === undefined ? {} : { maxTokens: tokensMax }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop.length === 0 ? {} : { stopSequences: stop }),
  };
  const more = {
    ...furtherFields(chat, model),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(thinking === undefined ? {} : { thinking }),
  };
  const tools = toolConfigOf(chat, model);
  return {
    messages: messagesOf(chat.turns, (turn) => turnBlocks(turn, blocks)),
    ...(chat.system.length === 0 ? {} : { system: chat.system.flatMap(blocks) }),
    ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
    ...(tools === undefined ? {} : { toolConfig: tools }),
    ...(chat.format?.kind === "schema" ? { outputConfig: outputOf(schemaFor(model, chat.format.schema)) } : {}),
    ...(Object.keys(more).length === 0 ? {} : { additionalModelRequestFields: more }),
    ...(chat.tier !== undefined && TIERS.has(chat.tier) ? { serviceTier: { type: chat.tier } } : {}),
  };
}

const TIERS: ReadonlySet<string> = new Set(["default", "flex", "priority"]);

const schemaFor = (model: string, schema: Json): Json => (takesSchemas(model) ? claudeSchema(schema) : schema);

/** Thinking tokens count toward the answer's bound, as at Anthropic itself; without thinking, the model's default is the bound. */
function thinkingOf(chat: Chat, model: string): { readonly tokensMax?: number | undefined; readonly thinking?: unknown } {
  if (!chat.body.has("thinking")) return { tokensMax: chat.tokensMax };
  const { max_tokens, thinking } = limitsOf(chat, model);
  const hasBudget = objectOf(thinking)?.["budget_tokens"] !== undefined;
  return { tokensMax: hasBudget ? (max_tokens as number) : chat.tokensMax, thinking };
}

type Blocks = (part: Part) => readonly Json[];

function turnBlocks(turn: Turn, blocks: Blocks): readonly Json[] {
  if (turn.role === "tool") {
    // Results themselves have no cache points.
    const content = resultOf(unmarked(turn.parts), blocks);
    return [{ toolResult: { toolUseId: claudeCallId(turn.callId), content } }, ...cachePoints(...turn.parts)];
  }
  if (turn.role === "user") return turn.parts.flatMap(blocks);
  return inOrder(turn).flatMap((said) => {
    if (said.kind === "thought") return [thoughtBlock(said.thought)];
    if (said.kind === "part") return blocks(said.part);
    const { id, name, input } = said.call;
    return [{ toolUse: { toolUseId: claudeCallId(id), name, input } }, ...cachePoints(said.call)];
  });
}

const thoughtBlock = (thought: Thought): Json => ({
  reasoningContent:
    thought.kind === "signed" ? { reasoningText: { text: thought.text, signature: thought.signature } } : { redactedContent: thought.data },
});

const unmarked = (parts: readonly Part[]): readonly Part[] => parts.map((part) => ({ ...part, cacheControl: undefined }));

/** The provider caches up to a point, which is a block behind the marked one; the last mark decides how long. */
function cachePoints(...marked: readonly { readonly cacheControl?: Json | undefined }[]): readonly Json[] {
  const mark = marked.findLast(({ cacheControl }) => cacheControl !== undefined)?.cacheControl;
  if (mark === undefined) return [];
  const ttl = mark["ttl"];
  return [{ cachePoint: { type: "default", ...(typeof ttl === "string" ? { ttl } : {}) } }];
}

/** A result that is a JSON object is sent as JSON. */
function resultOf(parts: readonly Part[], blocks: Blocks): readonly Json[] {
  const [only] = parts;
  const json = parts.length === 1 && only?.kind === "text" ? objectOf(parsedJson(only.text)) : undefined;
  if (json !== undefined) return [{ json }];
  const content = parts.flatMap(blocks);
  return content.length === 0 ? [{ text: "(no result)" }] : content;
}

const IMAGES: Readonly<Record<string, string>> = { "image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp" };
const DOCUMENTS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};
const VIDEOS: Readonly<Record<string, string>> = { "video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm" };

/** Writes the blocks of one request: each document in it needs a unique name. */
function createBlocks(): Blocks {
  let documents = 0;
  const blockOf = (part: Part): Json => {
    if (part.kind === "text") return { text: part.text };
    if (part.kind !== "bytes") throw new UntranslatableError("messages: this provider accepts files and images only as data, not as URLs");
    const { mediaType, data } = part;
    const source = { bytes: data };
    const image = IMAGES[mediaType];
    if (image !== undefined) return { image: { format: image, source } };
    const video = VIDEOS[mediaType];
    if (video !== undefined) return { video: { format: video, source } };
    const format = DOCUMENTS[mediaType];
    if (format === undefined) throw new UntranslatableError(`messages: content of type ${mediaType} cannot be sent to this provider`);
    return { document: { format, name: documentName(part.name, ++documents), source } };
  };
  // The provider rejects texts of white space only.
  return (part) => (part.kind === "text" && part.text.trim() === "" ? [] : [blockOf(part), ...cachePoints(part)]);
}

/** A name may have only letters, digits, single spaces, hyphens and brackets. */
function documentName(name: string | undefined, number: number): string {
  const plain = (name ?? "").replace(/\.[a-z0-9]{1,5}$/i, "").replace(/[^A-Za-z0-9()[\]-]+/g, " ");
  return `${plain.trim().slice(0, 150) || "document"} ${number}`;
}

/** Tools that were called before, which the API wants to know as long as messages have their calls: their schemas are lost. */
const calledTools = ({ turns }: Chat): readonly Tool[] =>
  [...new Set(turns.flatMap((turn) => (turn.role === "assistant" ? turn.calls.map(({ name }) => name) : [])))].map((name) => ({ name }));

function toolConfigOf(chat: Chat, model: string): Json | undefined {
  const { toolChoice } = chat;
  const tools = chat.tools.length === 0 ? calledTools(chat) : chat.tools;
  if (toolChoice?.kind === "none") {
    // The API has no field for it; without tools the model calls none, but earlier calls need the tools.
    if (calledTools(chat).length > 0)
      throw new UntranslatableError("tool_choice: this provider cannot be prevented from calling tools that were called before");
    return undefined;
  }
  if (tools.length === 0) return undefined;
  return {
    tools: tools.flatMap((tool) => [toolOf(tool, model), ...cachePoints(tool)]),
    // Beside the model's field for single calls, which contains the choice, the API rejects its own or ignores it.
    ...(toolChoice === undefined || callsOne(chat) ? {} : { toolChoice: choiceOf(toolChoice) }),
  };
}

function toolOf({ name, description, parameters, strict }: Tool, model: string): Json {
  const schema = { type: "object", properties: {}, ...parameters };
  const isStrict = strict === true && takesSchemas(model);
  return {
    toolSpec: {
      name,
      ...(description === undefined || description === "" ? {} : { description }),
      inputSchema: { json: isStrict ? claudeSchema(schema) : schema },
      ...(isStrict ? { strict: true } : {}),
    },
  };
}

const choiceOf = (choice: ToolChoice): Json =>
  choice.kind === "one" ? { tool: { name: choice.name } } : choice.kind === "required" ? { any: {} } : { auto: {} };

const outputOf = (schema: Json): Json => ({
  textFormat: { type: "json_schema", structure: { jsonSchema: { name: "answer", schema: JSON.stringify(schema) } } },
});

/** By the maker of the model: the field that sets the thinking effort. Models of other makers have none, and reject fields they do not know. */
const EFFORTS: readonly (readonly [RegExp, (effort: string, model: string) => Json])[] = [
  [
    /(?:^|[./])anthropic\./,
    (asked, model) => {
      const effort = claudeEffort(asked, model);
      return effort === undefined ? {} : { output_config: { effort } };
    },
  ],
  [
    /(?:^|[./])amazon\.nova-(?!micro|lite|pro|premier)/,
    (effort) =>
      effort === "none" ? {} : { reasoningConfig: { type: "enabled", maxReasoningEffort: effort === "minimal" ? "low" : effort } },
  ],
  [/(?:^|[./])openai\./, (effort) => ({ reasoning_effort: effort })],
];

const isAnthropic = (model: string): boolean => EFFORTS[0]?.[0].test(model) === true;

/** Whether the model may call at most one tool at once; without tools, models reject the field for it. */
const callsOne = ({ parallelToolCalls, toolChoice, tools }: Chat): boolean =>
  parallelToolCalls === false && tools.length > 0 && toolChoice?.kind !== "none";

/** Fields that Converse passes to the model unchanged. */
function furtherFields(chat: Chat, model: string): Json {
  if (callsOne(chat) && !isAnthropic(model))
    throw new UntranslatableError("parallel_tool_calls: this model cannot be prevented from calling several tools at once");
  const { effort } = chat;
  return {
    ...(effort === undefined ? {} : EFFORTS.find(([pattern]) => pattern.test(model))?.[1](effort, model)),
    ...(callsOne(chat) ? { tool_choice: claudeToolChoice(chat) } : {}),
  };
}
