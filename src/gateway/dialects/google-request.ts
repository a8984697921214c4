import type { AssistantTurn, Chat, ToolChoice, Turn } from "./chat.ts";
import type { Part } from "./parts.ts";
import { type Json, objectOf, parsedJson, type Reader } from "#gateway/http/json.ts";

/** A chat completion request as a request to generate content. */
export function googleRequest(chat: Chat, model: string): Json {
  const generation = generationConfig(chat, model);
  const choice = chat.toolChoice;
  const withSystem = takesSystem(model);
  const cached = extrasOf(chat.body)?.["cached_content"];
  const declarations = chat.tools.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }));
  const tools = [
    ...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]),
    ...(chat.body.has("web_search_options") ? [{ googleSearch: {} }] : []),
  ];
  return {
    contents: contentsOf(withSystem ? chat.turns : [{ role: "user", parts: chat.system }, ...chat.turns], model),
    ...(!withSystem || chat.system.length === 0 ? {} : { systemInstruction: { parts: chat.system.map(partOf) } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(declarations.length === 0 || choice === undefined ? {} : { toolConfig: { functionCallingConfig: callingConfig(choice) } }),
    ...(Object.keys(generation).length === 0 ? {} : { generationConfig: generation }),
    ...(typeof cached === "string" ? { cachedContent: cached } : {}),
    ...(chat.body.has("safety_settings") ? { safetySettings: chat.body.list("safety_settings") } : {}),
  };
}

function generationConfig(chat: Chat, model: string): Json {
  const { body, format, effort } = chat;
  const seed = body.number("seed");
  const presencePenalty = body.number("presence_penalty");
  const frequencyPenalty = body.number("frequency_penalty");
  const topK = body.number("top_k");
  const thinkingConfig = ownThinking(body, model) ?? (effort === undefined ? undefined : thinkingOf(effort, model));
  const modalities = body.list("modalities") ?? [];
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
    ...(chat.logprobs === undefined ? {} : { responseLogprobs: true }),
    ...(chat.logprobs === undefined || chat.logprobs === 0 ? {} : { logprobs: chat.logprobs }),
    ...(modalities.includes("image") ? { responseModalities: ["TEXT", "IMAGE"] } : {}),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
}

/** Thinking tokens for the effort levels of OpenAI. */
const THINKING_TOKENS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** Models of the third and later generations have levels instead of budgets; those other than `flash` lack some of them, the first one two. */
const LEVELS: Readonly<Record<string, readonly [flash: string, others: string, first: string]>> = {
  none: ["minimal", "low", "low"],
  minimal: ["minimal", "low", "low"],
  low: ["low", "low", "low"],
  medium: ["medium", "medium", "high"],
  high: ["high", "high", "high"],
  xhigh: ["high", "high", "high"],
  max: ["high", "high", "high"],
};

const levelsOf = (model: string): 0 | 1 | 2 => (model.includes("flash") ? 0 : /gemini-3-pro/.test(model) ? 2 : 1);

/** Tiers of the Gemini API by OpenAI's names; Vertex AI has no such field. */
const TIERS: Readonly<Record<string, string>> = { default: "standard", flex: "flex", priority: "priority" };

export function googleTier({ tier }: Chat): Json {
  const own = tier !== undefined && Object.hasOwn(TIERS, tier) ? TIERS[tier] : undefined;
  return own === undefined ? {} : { serviceTier: own };
}

/** Models without instructions of the system take them as the user's words before the first message. */
const takesSystem = (model: string): boolean => !/gemma-(?:3|2|1)/.test(model);

/** From the third generation on, with levels instead of budgets, and files inside the results of tools. */
const isThird = (model: string): boolean => /gemini-[3-9]/.test(model);

/** Others reject the field: earlier generations, and models of the second for images and speech. */
const isThinking = (model: string): boolean =>
  isThird(model) || (/gemini-2[.]5|-latest|thinking/.test(model) && !/-image|-tts/.test(model));

/** A request for thinking also asks for the thoughts, if the provider reveals them. */
function thinkingOf(effort: string, model: string): Json | undefined {
  if (!Object.hasOwn(THINKING_TOKENS, effort) || !isThinking(model)) return undefined;
  const thoughts = effort === "none" ? {} : { includeThoughts: true };
  if (isThird(model)) return { thinkingLevel: LEVELS[effort]?.[levelsOf(model)], ...thoughts };
  // This model always thinks, with at least so many tokens.
  const least = model.includes("2.5-pro") ? 128 : 0;
  return { thinkingBudget: Math.max(least, THINKING_TOKENS[effort] ?? 0), ...thoughts };
}

/** Members that Google's own OpenAI-compatible endpoint reads from `extra_body`. */
const extrasOf = (body: Reader): Json | undefined => objectOf(body.object("extra_body")?.["google"]) ?? objectOf(body.raw("google"));

/** Thinking in Google's terms, or in Anthropic's, in which clients of both write it. */
function ownThinking(body: Reader, model: string): Json | undefined {
  const own = objectOf(extrasOf(body)?.["thinking_config"]);
  if (own !== undefined) return Object.fromEntries(Object.entries(own).map(([name, value]) => [camelCase(name), value]));
  const thinking = body.object("thinking");
  if (thinking?.["type"] === "disabled") return thinkingOf("none", model);
  const budget = thinking?.["budget_tokens"];
  return typeof budget === "number" && isThinking(model) ? { thinkingBudget: budget, includeThoughts: true } : undefined;
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function contentsOf(turns: readonly Turn[], model: string): readonly Json[] {
  const contents: { readonly role: "user" | "model"; readonly parts: Json[] }[] = [];
  for (const [i, turn] of turns.entries()) {
    const role = turn.role === "assistant" ? "model" : "user";
    const isFirst = turns[i - 1]?.role !== "assistant";
    const parts = turnParts(turn, model, isFirst);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    // Results of parallel calls must be adjacent.
    if (last?.role === role) for (const one of parts) last.parts.push(one);
    else contents.push({ role, parts: [...parts] });
  }
  return contents;
}

/** Google's own value for calls that another model made: it stands for a signature, which its third generation demands. */
const UNSIGNED = "skip_thought_signature_validator";

/** Of calls at once, only the first is signed. */
function turnParts(turn: Turn, model: string, isFirst: boolean): readonly Json[] {
  if (turn.role === "tool") return resultParts(turn, model);
  if (turn.role === "user") return turn.parts.map(partOf);
  const unsigned = isFirst && isThird(model) ? UNSIGNED : undefined;
  const calls = turn.calls.map(({ id, name, input, signature }, i) => ({
    functionCall: { id, name, args: input },
    ...signed(signature ?? (i === 0 ? unsigned : undefined)),
  }));
  return [...saidParts(turn), ...calls];
}

const signed = (signature: string | undefined): Json => (signature === undefined ? {} : { thoughtSignature: signature });

/** The signature of a text belongs to its last part. */
function saidParts({ parts, signature }: AssistantTurn): readonly Json[] {
  const last = parts.findLastIndex(({ kind }) => kind === "text");
  const said = parts.map((part, i) => ({ ...partOf(part), ...signed(i === last ? signature : part.signature) }));
  return last < 0 && signature !== undefined ? [...said, { text: "", ...signed(signature) }] : said;
}

/** Models from the third generation take files inside a result, as data; for others, and for links, files follow the result. */
function resultParts({ callId, name, parts }: Extract<Turn, { role: "tool" }>, model: string): readonly Json[] {
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  // The dialect requires an object: the result itself if it is one, otherwise an object that holds its text.
  const response = objectOf(parsedJson(text)) ?? { output: text };
  const isInside = ({ kind }: Part): boolean => kind === "bytes" && isThird(model);
  const files = parts.filter(({ kind }) => kind !== "text");
  const inside = files.filter(isInside).map(partOf);
  const behind = files.filter((part) => !isInside(part)).map(partOf);
  return [{ functionResponse: { id: callId, name, response, ...(inside.length === 0 ? {} : { parts: inside }) } }, ...behind];
}

function partOf(part: Part): Json {
  if (part.kind === "text") return { text: part.text };
  if (part.kind === "bytes") return { inlineData: { mimeType: part.mediaType, data: part.data } };
  const uri = part.kind === "file" ? part.id : part.url;
  const type = part.mediaType ?? mediaTypeOf(uri);
  return { fileData: { ...(type === undefined ? {} : { mimeType: type }), fileUri: uri } };
}

/** By the ending of a name; the provider wants to know it for files in Google Storage. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  mpeg: "video/mpeg",
  webm: "video/webm",
};

function mediaTypeOf(url: string): string | undefined {
  const ending = /\.([a-z0-9]{2,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

const MODES: Readonly<Record<Exclude<ToolChoice["kind"], "one">, string>> = { auto: "AUTO", none: "NONE", required: "ANY" };

const callingConfig = (choice: ToolChoice): Json =>
  choice.kind === "one" ? { mode: "ANY", allowedFunctionNames: [choice.name] } : { mode: MODES[choice.kind] };
