import type { StreamEvent } from "#wire/http/event-stream.ts";
import type { Chat } from "./chat.ts";
import type { LocationFacts } from "#gateway/request/provider-location-facts.ts";
import type { AnswerFacts } from "./completion.ts";
import type { Json } from "#gateway/http/json.ts";

/** Translates chat completions to a provider's API and its answers back. Pure. */
export interface Dialect {
  /** The model's name without its place. */
  model(model: string): string;
  /** Path below the provider's base address, with its query. Throws UntranslatableError if the place of the model is unknown. */
  path(model: string, stream: boolean, facts: LocationFacts): string;
  /** Whether a key for the provider may name the model's project and region. */
  readonly isPlacedByKey?: boolean;
  /** Header in which the provider expects the key that clients of OpenAI send as `Authorization: Bearer`. */
  readonly keyHeader: string;
  /** Header fields that the provider needs and OpenAI clients do not send. */
  readonly headers: Readonly<Record<string, string>>;
  /** More of them, which only some requests need; a list in them is added to the client's own. */
  requestHeaders?(chat: Chat): Readonly<Record<string, string>>;
  /** Throws UntranslatableError if the dialect cannot express the request. `model` is the name without its place. */
  request(chat: Chat, model: string): Json;
  /** Undefined if the body is not an answer of this dialect. */
  answer(body: Json, facts: AnswerFacts): Json | undefined;
  /** An error body in OpenAI's shape. */
  error(body: unknown, status: number): Json;
  stream(facts: AnswerFacts): StreamTranslator;
  /** Absent if the provider has no embeddings. */
  readonly embeddings?: {
    /** As for chats. */
    path(model: string, facts: LocationFacts): string;
    request(body: unknown, model: string): Json;
    answer(body: unknown, model: string, isBase64: boolean): Json | undefined;
  };
}

export interface StreamTranslator {
  /** Chunks of OpenAI's stream for one event of the provider's. */
  event(event: StreamEvent): StreamStep;
  /** The last chunks at the end of the bytes, or undefined if the provider broke off. */
  end(): readonly Json[] | undefined;
}

/** Chunks to send; `error` if the provider reports a failure, or sends something that cannot be read. */
export interface StreamStep {
  readonly pieces: readonly Json[];
  readonly error?: Json;
}

export const NO_CHUNKS: StreamStep = { pieces: [] };
