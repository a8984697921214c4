import { type Part, readAnswerImages, readContent, signatureIn, type TextPart, withMark } from "./parts.ts";
import { readThoughts, type Thought } from "./thoughts.ts";
import { type Json, Reader, UntranslatableError, objectOf, parsedJson } from "#gateway/http/json.ts";

/** A chat completion request of OpenAI's shape, read once; every dialect is written from it. */
export interface Chat {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly format?: AnswerFormat | undefined;
  readonly tokensMax?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly stop: readonly string[];
  /** Number of answers. */
  readonly choices: number;
  readonly effort?: string | undefined;
  readonly user?: string | undefined;
  /** Service tier by OpenAI's names. */
  readonly tier?: string | undefined;
  /** Whether the probabilities of tokens are asked for, with how many alternatives. */
  readonly logprobs?: number | undefined;
  readonly stream: boolean;
  /** `stream_options.include_usage` */
  readonly includeUsage: boolean;
  /** The request itself, for fields that only one dialect has. */
  readonly body: Reader;
}

export type Turn =
  | { readonly role: "user"; readonly parts: readonly Part[] }
  | AssistantTurn
  | { readonly role: "tool"; readonly callId: string; readonly name: string; readonly parts: readonly Part[] };

export interface AssistantTurn {
  readonly role: "assistant";
  /** Thoughts of the model before it said its parts. */
  readonly thoughts: readonly Thought[];
  readonly parts: readonly Part[];
  readonly calls: readonly ToolCall[];
  /** The provider's signature of its text. */
  readonly signature?: string | undefined;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** The provider's signature of its call, which must be sent back. */
  readonly signature?: string | undefined;
  readonly cacheControl?: Json | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: Json | undefined;
  /** Whether the model must keep to the schema of the parameters. */
  readonly strict?: boolean | undefined;
  readonly cacheControl?: Json | undefined;
}

export type ToolChoice = { readonly kind: "auto" | "none" | "required" } | { readonly kind: "one"; readonly name: string };

export type AnswerFormat = { readonly kind: "json" } | { readonly kind: "schema"; readonly schema: Json };

/** Throws UntranslatableError if the body is not a chat completion request, or uses a feature that only OpenAI has. */
export function readChat(value: unknown): Chat {
  const body = new Reader(value, "");
  for (const key of ["functions", "function_call"]) if (body.has(key)) body.refuse(key, "use tools and tool_choice, which replace it");
  if (body.list("modalities")?.includes("audio") || body.has("audio")) body.refuse("modalities", "this provider responds only with text");
  const messages = body.readers("messages");
  if (messages.length === 0) body.refuse("messages", "must be an array with at least one message");
  const options = body.has("stream_options") ? body.reader("stream_options") : undefined;
  const choice = readToolChoice(body);
  const tools = body.readers("tools").map(readTool);
  return {
    ...readMessages(messages),
    tools: choice?.allowed === undefined ? tools : tools.filter(({ name }) => choice.allowed?.has(name)),
    toolChoice: choice?.choice,
    parallelToolCalls: body.boolean("parallel_tool_calls"),
    format: readFormat(body),
    tokensMax: body.number("max_completion_tokens") ?? body.number("max_tokens"),
    temperature: body.number("temperature"),
    topP: body.number("top_p"),
    stop: readStop(body),
    choices: body.number("n") ?? 1,
    effort: body.optionalText("reasoning_effort"),
    // OpenAI has replaced its first name of it.
    user: body.optionalText("user") ?? body.optionalText("safety_identifier"),
    tier: body.optionalText("service_tier"),
    logprobs: body.boolean("logprobs") === true ? (body.number("top_logprobs") ?? 0) : undefined,
    stream: body.boolean("stream") ?? false,
    includeUsage: options?.boolean("include_usage") ?? false,
    body,
  };
}

function readMessages(messages: readonly Reader[]): Pick<Chat, "system" | "turns"> {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    const role = message.text("role");
    const mark = message.object("cache_control");
    const parts = withMark(readContent(message), mark);
    if (role === "system" || role === "developer") {
      for (const part of parts) if (part.kind === "text") system.push(part);
    } else if (role === "user") turns.push({ role, parts });
    else if (role === "assistant") {
      const turn = readAnswer(message, mark);
      for (const { id, name } of turn.calls) names.set(id, name);
      turns.push(turn);
    } else if (role === "tool") {
      const callId = message.text("tool_call_id");
      const name = names.get(callId);
      if (name === undefined) message.refuse("tool_call_id", "no assistant message before it has a tool call with this id");
      turns.push({ role, callId, name, parts });
    } else message.refuse("role", "must be system, developer, user, assistant or tool");
  }
  // OpenAI answers system messages alone; other dialects need a message of the user.
  return turns.length === 0 ? { system: [], turns: [{ role: "user", parts: system }] } : { system, turns };
}

/** A mark on the message applies to its last block, which is a call if it has calls. */
function readAnswer(message: Reader, mark: Json | undefined): AssistantTurn {
  const calls = message.readers("tool_calls").map(readCall);
  const said = [...readContent(message), ...readAnswerImages(message)];
  return {
    role: "assistant",
    thoughts: readThoughts(message),
    parts: calls.length === 0 ? withMark(said, mark) : said,
    calls: calls.map((call, i) => (mark !== undefined && i === calls.length - 1 ? { ...call, cacheControl: mark } : call)),
    signature: signatureIn(message),
  };
}

/** For a dialect without them. */
export function refuseLogprobs({ body, logprobs }: Chat): void {
  if (logprobs !== undefined) body.refuse("logprobs", "this provider does not return token probabilities");
}

/** Asks the model for JSON in a system message, for a dialect without a field for `json_object`. */
export function withJsonInstruction(chat: Chat): Chat {
  if (chat.format?.kind !== "json") return chat;
  return { ...chat, system: [...chat.system, { kind: "text", text: JSON_ASKED }], format: undefined };
}

const JSON_ASKED = "Answer with one JSON object and nothing else: no words before or after it, and no code fence.";

function readCall(call: Reader): ToolCall {
  if ((call.optionalText("type") ?? "function") !== "function") call.refuse("type", "this provider accepts only function calls");
  const made = call.reader("function");
  const text = made.optionalText("arguments") ?? "";
  const input = (text.trim() === "" ? {} : objectOf(parsedJson(text))) ?? made.refuse("arguments", "must be a JSON object in a string");
  return { id: call.text("id"), name: made.text("name"), input, signature: signatureIn(call), cacheControl: call.object("cache_control") };
}

function readTool(tool: Reader): Tool {
  if (tool.text("type") !== "function") tool.refuse("type", "this provider accepts only functions as tools");
  const made = tool.reader("function");
  return {
    name: made.text("name"),
    description: made.optionalText("description"),
    parameters: made.object("parameters"),
    strict: made.boolean("strict"),
    cacheControl: tool.object("cache_control") ?? made.object("cache_control"),
  };
}

function readToolChoice(body: Reader): { readonly choice: ToolChoice; readonly allowed?: ReadonlySet<string> } | undefined {
  const value = body.raw("tool_choice");
  if (value === undefined) return undefined;
  if (value === "auto" || value === "none" || value === "required") return { choice: { kind: value } };
  const choice = body.reader("tool_choice");
  const type = choice.text("type");
  if (type === "function") return { choice: { kind: "one", name: choice.reader("function").text("name") } };
  if (type !== "allowed_tools") choice.refuse("type", "must be function or allowed_tools");
  const allowed = choice.reader("allowed_tools");
  const names = allowed.readers("tools").map((tool) => tool.reader("function").text("name"));
  return { choice: { kind: allowed.text("mode") === "required" ? "required" : "auto" }, allowed: new Set(names) };
}

function readFormat(body: Reader): AnswerFormat | undefined {
  if (!body.has("response_format")) return undefined;
  const format = body.reader("response_format");
  const type = format.text("type");
  if (type === "text") return undefined;
  if (type === "json_object") return { kind: "json" };
  if (type !== "json_schema") return format.refuse("type", "must be text, json_object or json_schema");
  return { kind: "schema", schema: format.reader("json_schema").object("schema") ?? {} };
}

function readStop(body: Reader): readonly string[] {
  const stop = body.raw("stop");
  if (stop === undefined) return [];
  const all = typeof stop === "string" ? [stop] : (body.list("stop") ?? []);
  if (!all.every((text) => typeof text === "string")) throw new UntranslatableError("stop must be a string or an array of strings");
  return all as readonly string[];
}
