import type { StreamEvent } from "#wire/http/event-stream.ts";
import { bedrockCounts, bedrockError, bedrockFinish } from "./bedrock-answer.ts";
import { type AnswerFacts, chunkOf, errorOf, type FinishReason, toolCall, usageChunksOf } from "./completion.ts";
import { NO_CHUNKS, type StreamStep, type StreamTranslator } from "./dialect.ts";
import { PlaceCounter, StreamedThoughts } from "./thoughts.ts";
import { type Json, objectOf, parsedJson, textOf } from "#gateway/http/json.ts";

/** A tool call under way. */
interface Call {
  readonly index: number;
  hasArguments: boolean;
}

const CALLS_MAX = 1024;

/** Reads the events of ConverseStream, whose names are the messages' `:event-type`. Reports the end only after `messageStop`. */
export class BedrockStream implements StreamTranslator {
  readonly #facts: AnswerFacts;
  #finish: FinishReason | undefined;
  #metadata: Json = {};
  readonly #said = new PlaceCounter();
  readonly #calls = new Map<unknown, Call>();
  readonly #thoughts = new StreamedThoughts(this.#said);

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  event({ event: name, data }: StreamEvent): StreamStep {
    const event = objectOf(parsedJson(data));
    if (event === undefined) return { pieces: [], error: errorOf("the provider sent an event that is not JSON", "upstream_error") };
    if (/exception$|error$/i.test(name)) return { pieces: [], error: bedrockError({ __type: name, ...event }, 502) };
    const read = STEPS.get(name);
    return read === undefined ? NO_CHUNKS : this[read](event);
  }

  end(): readonly Json[] | undefined {
    if (this.#finish === undefined) return undefined;
    const last = chunkOf(this.#facts, 0, {}, this.#finish);
    return [last, ...usageChunksOf(this.#facts, bedrockCounts(this.#metadata))];
  }

  start(): StreamStep {
    return this.#piece({ role: "assistant", content: "", refusal: null });
  }

  blockStart(event: Json): StreamStep {
    const use = objectOf(objectOf(event["start"])?.["toolUse"]);
    if (use === undefined) return NO_CHUNKS;
    if (this.#said.calls >= CALLS_MAX) return { pieces: [], error: errorOf("the provider made too many tool calls", "upstream_error") };
    const call = { index: this.#said.calls++, hasArguments: false };
    this.#calls.set(event["contentBlockIndex"], call);
    return this.#piece({ tool_calls: [{ index: call.index, ...toolCall(textOf(use["toolUseId"]) ?? "", textOf(use["name"]) ?? "", "") }] });
  }

  blockDelta(event: Json): StreamStep {
    const delta = objectOf(event["delta"]) ?? {};
    const text = textOf(delta["text"]);
    if (text !== undefined) {
      this.#said.text += text.length;
      return this.#piece({ content: text });
    }
    const thought = objectOf(delta["reasoningContent"]);
    if (thought !== undefined) return this.#thought(event["contentBlockIndex"], thought);
    const input = textOf(objectOf(delta["toolUse"])?.["input"]) ?? "";
    const call = this.#calls.get(event["contentBlockIndex"]);
    if (call === undefined || input === "") return NO_CHUNKS;
    call.hasArguments = true;
    return this.#piece({ tool_calls: [{ index: call.index, function: { arguments: input } }] });
  }

  #thought(block: unknown, { text, signature, redactedContent }: Json): StreamStep {
    if (typeof text === "string") return this.#piece(this.#thoughts.text(block, text));
    if (typeof signature === "string") return this.#piece(this.#thoughts.signature(block, signature));
    return typeof redactedContent === "string" ? this.#piece(this.#thoughts.hidden(block, redactedContent)) : NO_CHUNKS;
  }

  blockStop(event: Json): StreamStep {
    const call = this.#calls.get(event["contentBlockIndex"]);
    this.#calls.delete(event["contentBlockIndex"]);
    // A call without arguments has no arguments chunk; clients parse the received text, so an empty one is sent.
    if (call === undefined || call.hasArguments) return NO_CHUNKS;
    return this.#piece({ tool_calls: [{ index: call.index, function: { arguments: "{}" } }] });
  }

  messageStop(event: Json): StreamStep {
    this.#finish = bedrockFinish(event["stopReason"]);
    return NO_CHUNKS;
  }

  metadata(event: Json): StreamStep {
    this.#metadata = event;
    return NO_CHUNKS;
  }

  #piece(delta: Json): StreamStep {
    return { pieces: [chunkOf(this.#facts, 0, delta)] };
  }
}

type StepName = "start" | "blockStart" | "blockDelta" | "blockStop" | "messageStop" | "metadata";

/** The step for each event; unknown events are ignored. */
const STEPS: ReadonlyMap<string, StepName> = new Map<string, StepName>([
  ["messageStart", "start"],
  ["contentBlockStart", "blockStart"],
  ["contentBlockDelta", "blockDelta"],
  ["contentBlockStop", "blockStop"],
  ["messageStop", "messageStop"],
  ["metadata", "metadata"],
]);
