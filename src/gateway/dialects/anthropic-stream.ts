import type { StreamEvent } from "#wire/http/event-stream.ts";
import { anthropicCounts, anthropicError, anthropicFinish, citedPage } from "./anthropic-answer.ts";
import { type AnswerFacts, type FinishReason, chunkOf, errorOf, toolCall, usageChunksOf } from "./completion.ts";
import { NO_CHUNKS, type StreamStep, type StreamTranslator } from "./dialect.ts";
import { PlaceCounter, StreamedThoughts } from "./thoughts.ts";
import { type Json, objectOf, parsedJson, textOf } from "#gateway/http/json.ts";

/** A tool call under way. */
interface Call {
  readonly index: number;
  /** Arguments from the start of the call's block, for a call without further chunks. */
  readonly input: string;
  hasArguments: boolean;
}

/** Open blocks of one answer; no model opens more. */
const BLOCKS_MAX = 1024;

/**
 * Reads the events of a streamed message. Reports the end only after `message_stop`, so that a cut stream never looks
 * finished.
 */
export class AnthropicStream implements StreamTranslator {
  #facts: AnswerFacts;
  /** Counts by name; without a prototype, because the provider chooses the names. */
  readonly #usage = Object.create(null) as Record<string, unknown>;
  #finish: FinishReason = "stop";
  #isStopped = false;
  readonly #said = new PlaceCounter();
  readonly #calls = new Map<unknown, Call>();
  readonly #thoughts = new StreamedThoughts(this.#said);
  /** Of the text block under way: where it began, and the pages that it cites. */
  #cited: { readonly from: number; readonly citations: Json[] } = { from: 0, citations: [] };

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  event({ data }: StreamEvent): StreamStep {
    const event = objectOf(parsedJson(data));
    const read = event === undefined ? undefined : STEPS.get(event["type"]);
    if (event === undefined) return { pieces: [], error: errorOf("the provider sent an event that is not JSON", "upstream_error") };
    return read === undefined ? NO_CHUNKS : this[read](event);
  }

  end(): readonly Json[] | undefined {
    if (!this.#isStopped) return undefined;
    const last = chunkOf(this.#facts, 0, {}, this.#finish);
    return [last, ...usageChunksOf(this.#facts, anthropicCounts(this.#usage))];
  }

  start(event: Json): StreamStep {
    const message = objectOf(event["message"]) ?? {};
    Object.assign(this.#usage, objectOf(message["usage"]));
    this.#facts = {
      ...this.#facts,
      id: textOf(message["id"]) ?? this.#facts.id,
      model: textOf(message["model"]) ?? this.#facts.model,
    };
    return this.#piece({ role: "assistant", content: "", refusal: null });
  }

  blockStart(event: Json): StreamStep {
    const block = objectOf(event["content_block"]) ?? {};
    this.#cited = { from: this.#said.text, citations: [] };
    if (block["type"] === "text" && textOf(block["text"])) return this.#text(block["text"]);
    if (block["type"] === "redacted_thinking") return this.#piece(this.#thoughts.hidden(event["index"], textOf(block["data"]) ?? ""));
    if (block["type"] !== "tool_use") return NO_CHUNKS;
    if (this.#said.calls >= BLOCKS_MAX) return { pieces: [], error: errorOf("the provider made too many tool calls", "upstream_error") };
    const call = { index: this.#said.calls++, input: JSON.stringify(block["input"] ?? {}), hasArguments: false };
    this.#calls.set(event["index"], call);
    const made = toolCall(textOf(block["id"]) ?? "", textOf(block["name"]) ?? "", "");
    return this.#piece({ tool_calls: [{ index: call.index, ...made }] });
  }

  blockDelta(event: Json): StreamStep {
    const delta = objectOf(event["delta"]) ?? {};
    if (delta["type"] === "text_delta") return this.#text(delta["text"]);
    if (delta["type"] === "citations_delta") return this.#cite(objectOf(delta["citation"]) ?? {});
    if (delta["type"] === "thinking_delta") return this.#piece(this.#thoughts.text(event["index"], textOf(delta["thinking"]) ?? ""));
    if (delta["type"] === "signature_delta") return this.#piece(this.#thoughts.signature(event["index"], textOf(delta["signature"]) ?? ""));
    const call = delta["type"] === "input_json_delta" ? this.#calls.get(event["index"]) : undefined;
    const text = textOf(delta["partial_json"]) ?? "";
    if (call === undefined || text === "") return NO_CHUNKS;
    call.hasArguments = true;
    return this.#piece({ tool_calls: [{ index: call.index, function: { arguments: text } }] });
  }

  blockStop(event: Json): StreamStep {
    const call = this.#calls.get(event["index"]);
    this.#calls.delete(event["index"]);
    const annotations = this.#cited.citations.flatMap((citation) => citedPage(citation, this.#cited.from, this.#said.text));
    this.#cited = { from: this.#said.text, citations: [] };
    if (annotations.length > 0) return this.#piece({ annotations });
    // A call without arguments has no arguments chunk; clients parse the received text, so an empty one is sent.
    if (call === undefined || call.hasArguments) return NO_CHUNKS;
    return this.#piece({ tool_calls: [{ index: call.index, function: { arguments: call.input } }] });
  }

  messageDelta(event: Json): StreamStep {
    const reason = objectOf(event["delta"])?.["stop_reason"] ?? null;
    if (reason !== null) this.#finish = anthropicFinish(reason);
    for (const [name, value] of Object.entries(objectOf(event["usage"]) ?? {})) if (value !== null) this.#usage[name] = value;
    return NO_CHUNKS;
  }

  messageStop(): StreamStep {
    this.#isStopped = true;
    return NO_CHUNKS;
  }

  failure(event: Json): StreamStep {
    return { pieces: [], error: anthropicError(event, 502) };
  }

  #cite(citation: Json): StreamStep {
    if (this.#cited.citations.length < BLOCKS_MAX) this.#cited.citations.push(citation);
    return NO_CHUNKS;
  }

  #text(value: unknown): StreamStep {
    const content = textOf(value) ?? "";
    this.#said.text += content.length;
    return this.#piece({ content });
  }

  #piece(delta: Json): StreamStep {
    return { pieces: [chunkOf(this.#facts, 0, delta)] };
  }
}

type StepName = "start" | "blockStart" | "blockDelta" | "blockStop" | "messageDelta" | "messageStop" | "failure";

/** The step for each event; `ping` and unknown events are ignored. */
const STEPS: ReadonlyMap<unknown, StepName> = new Map<unknown, StepName>([
  ["message_start", "start"],
  ["content_block_start", "blockStart"],
  ["content_block_delta", "blockDelta"],
  ["content_block_stop", "blockStop"],
  ["message_delta", "messageDelta"],
  ["message_stop", "messageStop"],
  ["error", "failure"],
]);
