import { AmazonEventStreamReader, type AmazonMessage, AmazonStreamError } from "#wire/http/amazon-event-stream.ts";
import { EventStreamReader, EventTooLargeError, type StreamEvent } from "#wire/http/event-stream.ts";

/**
 * Splits a streamed answer into events, for any framing. Throws an error that `isUnreadable` recognizes if that is
 * impossible.
 */
export interface AnswerReader {
  push(bytes: Buffer): void;
  end(): void;
}

export type OpenReader = (onEvent: (event: StreamEvent) => void) => AnswerReader;

/** Larger than any model's answer; an image in one event may take some megabytes. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** By the media type of the stream. */
const READERS: ReadonlyMap<string, OpenReader> = new Map<string, OpenReader>([
  ["text/event-stream", (onEvent) => new EventStreamReader(onEvent, { eventBytesMax: ANSWER_BYTES_MAX })],
  [
    "application/vnd.amazon.eventstream",
    (onEvent) => {
      const reader = new AmazonEventStreamReader((message) => onEvent(eventOf(message)), { messageBytesMax: ANSWER_BYTES_MAX });
      return { push: (bytes) => reader.push(bytes), end: () => undefined };
    },
  ],
]);

export const answerReaderOf = (mediaType: string): OpenReader | undefined => READERS.get(mediaType);

/** Whether the stream cannot be split, or has an event that is larger than any model's. */
export const isUnreadable = (error: unknown): boolean => error instanceof EventTooLargeError || error instanceof AmazonStreamError;

/** Errors have a name; their description is in the payload, or in a header if the service did not expect them. */
function eventOf({ headers, payload }: AmazonMessage): StreamEvent {
  const data = payload.toString("utf8");
  if (headers.get(":message-type") === "error")
    return { event: `${headers.get(":error-code") ?? "internal"}Error`, data: JSON.stringify({ message: headers.get(":error-message") }) };
  return { event: headers.get(":exception-type") ?? headers.get(":event-type") ?? "", data };
}
