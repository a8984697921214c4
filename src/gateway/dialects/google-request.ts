import type { Chat, Part, ToolChoice, Turn } from "./chat.ts";
import { type Json, objectOf, parsedJson, UntranslatableError } from "#gateway/http/json.ts";

/** A chat completion request as a request to generate content. */
export function googleRequest(chat: Chat, model: string): Json {
  const generation = generationConfig(chat, model);
  const choice = chat.toolChoice;
  const declarations = chat.tools.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }));
  return {
    contents: contentsOf(chat.turns),
    ...(chat.system.length === 0 ? {} : { systemInstruction: { parts: chat.system.map(partOf) } }),
    ...(declarations.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
    ...(declarations.length === 0 || choice === undefined ? {} : { toolConfig: { functionCallingConfig: callingConfig(choice) } }),
    ...(Object.keys(generation).length === 0 ? {} : { generationConfig: generation }),
    ...(chat.body.has("safety_settings") ? { safetySettings: chat.body.list("safety_settings") } : {}),
  };
}

function generationConfig(chat: Chat, model: string): Json {
  const { body, format, effort } = chat;
  const seed = body.number("seed");
  const presencePenalty = body.number("presence_penalty");
  const frequencyPenalty = body.number("frequency_penalty");
  const topK = body.number("top_k");
  const thinkingConfig = effort === undefined || !Object.hasOwn(THINKING_TOKENS, effort) ? undefined : thinkingOf(effort, model);
  return {
    ...(chat.tokensMax === undefined ? {} : { maxOutputTokens: chat.tokensMax }),
    ...(chat.temperature === undefined ? {} : { temperature: chat.temperature }),
    ...(chat.topP === undefined ? {} : { topP: chat.topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(chat.stop.length === 0 ? {} : { stopSequences: chat.stop }),
    ...(chat.choices === 1 ? {} : { candidateCount: chat.choices }),
    ...(seed === undefined ? {} : { seed }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(format === undefined ? {} : { responseMimeType: "application/json" }),
    ...(format?.kind === "schema" ? { responseJsonSchema: format.schema } : {}),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
}

/** Thinking tokens for the effort levels of OpenAI. */
const THINKING_TOKENS: Readonly<Record<string, number>> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576 };

/** Models of the third and later generations have levels instead of budgets; models other than `flash` have only two of them. */
const LEVELS: Readonly<Record<string, readonly [flash: string, others: string]>> = {
  none: ["minimal", "low"],
  minimal: ["minimal", "low"],
  low: ["low", "low"],
  medium: ["medium", "high"],
  high: ["high", "high"],
  xhigh: ["high", "high"],
};

/** A request for thinking also asks for the thoughts, if the provider reveals them. */
function thinkingOf(effort: string, model: string): Json {
  const thoughts = effort === "none" ? {} : { includeThoughts: true };
  if (!/gemini-[3-9]/.test(model)) return { thinkingBudget: THINKING_TOKENS[effort], ...thoughts };
  return { thinkingLevel: LEVELS[effort]?.[model.includes("flash") ? 0 : 1], ...thoughts };
}

function contentsOf(turns: readonly Turn[]): readonly Json[] {
  const contents: { readonly role: "user" | "model"; readonly parts: Json[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === "assistant" ? "model" : "user";
    const parts = turnParts(turn);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    // Results of parallel calls must be adjacent.
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts: [...parts] });
  }
  return contents;
}

function turnParts(turn: Turn): readonly Json[] {
  if (turn.role === "tool") return [{ functionResponse: { id: turn.callId, name: turn.name, response: responseOf(turn.parts) } }];
  const parts = turn.parts.map(partOf);
  if (turn.role === "user") return parts;
  const calls = turn.calls.map(({ id, name, input, signature }) => ({
    functionCall: { id, name, args: input },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }));
  return [...parts, ...calls];
}

/** The dialect requires an object: the result itself if it is one, otherwise an object that holds its text. */
function responseOf(parts: readonly Part[]): Json {
  const text = parts.map((part) => (part.kind === "text" ? part.text : refuseResult())).join("");
  return objectOf(parsedJson(text)) ?? { output: text };
}

function refuseResult(): never {
  throw new UntranslatableError("messages: this provider accepts only text as a tool's result");
}

function partOf(part: Part): Json {
  if (part.kind === "text") return { text: part.text };
  if (part.kind === "bytes") return { inlineData: { mimeType: part.mediaType, data: part.data } };
  if (part.kind === "file") return { fileData: { fileUri: part.id } };
  const type = mediaTypeOf(part.url);
  return { fileData: { ...(type === undefined ? {} : { mimeType: type }), fileUri: part.url } };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
};

function mediaTypeOf(url: string): string | undefined {
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

const MODES: Readonly<Record<Exclude<ToolChoice["kind"], "one">, string>> = { auto: "AUTO", none: "NONE", required: "ANY" };

const callingConfig = (choice: ToolChoice): Json =>
  choice.kind === "one" ? { mode: "ANY", allowedFunctionNames: [choice.name] } : { mode: MODES[choice.kind] };
