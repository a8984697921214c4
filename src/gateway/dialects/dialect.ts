import type { StreamEvent } from "#wire/http/event-stream.ts";
import type { Chat } from "./chat.ts";
import type { PlaceFacts } from "#gateway/request/provider-place.ts";
import type { AnswerFacts } from "./completion.ts";
import type { Json } from "#gateway/http/json.ts";

/** Another way to say a chat completion: how the request is put, and how what comes back is read. Pure. */
export interface Dialect {
  /** The model's own name, without what says where it is. */
  model(model: string): string;
  /** Path below the provider's base address, with its query. Throws UntranslatableError where nothing says where the model is. */
  path(model: string, stream: boolean, facts: PlaceFacts): string;
  /** A key for the provider may say where the model is. */
  readonly isPlacedByKey?: boolean;
  /** Header in which the provider expects the key that clients of OpenAI send as `Authorization: Bearer`. */
  readonly keyHeader: string;
  /** Headers that the provider needs and such clients do not send. */
  readonly headers: Readonly<Record<string, string>>;
  /** Throws UntranslatableError where the dialect has no words for the request. `model` is its own name. */
  request(chat: Chat, model: string): Json;
  /** Undefined where the body is no answer of this dialect. */
  answer(body: Json, facts: AnswerFacts): Json | undefined;
  /** An error body in OpenAI's shape. */
  error(body: unknown, status: number): Json;
  stream(facts: AnswerFacts): StreamTranslator;
  /** Absent where the provider has none. */
  readonly embeddings?: {
    /** As for chats. */
    path(model: string, facts: PlaceFacts): string;
    request(body: unknown, model: string): Json;
    answer(body: unknown, model: string, isBase64: boolean): Json | undefined;
  };
}

export interface StreamTranslator {
  /** Pieces of OpenAI's stream for one event of the provider's. */
  event(event: StreamEvent): StreamStep;
  /** What the end of the bytes means: the last pieces, or undefined where the provider broke off. */
  end(): readonly Json[] | undefined;
}

/** Pieces to send on; `error` where the provider says that it failed, or says nothing that can be understood. */
export interface StreamStep {
  readonly pieces: readonly Json[];
  readonly error?: Json;
}

export const NO_PIECES: StreamStep = { pieces: [] };
