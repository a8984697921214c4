import { ERROR_CODES } from "#kernel/errors/error-codes.ts";
import { type GatewayErrorName, refusalMessage } from "#gateway/http/errors.ts";

/** The format of one kind of event streams: marks of its end and of a failure. */
export interface StreamKind {
  /** Every complete stream has one of these. A model's text cannot contain them, because its quotes are escaped. */
  readonly ends: readonly Mark[];
  /** A stream that ended because the model failed has one of these. */
  readonly failures?: readonly Mark[];
  /** Whether such requests can ask for token counts with `stream_options`. */
  readonly hasUsageOption: boolean;
  /** The event that tells a client of such a stream that it was cut. */
  errorEvent(reason: GatewayErrorName): string;
}

export interface Mark {
  readonly text: Buffer;
  /** Whether the mark counts only with a string after it: a null reason is not the last one. */
  readonly hasValue: boolean;
}

const mark = (text: string, hasValue = false): Mark => ({ text: Buffer.from(text), hasValue });
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (event: string, value: object): string => `event: ${event}\n${data(value)}`;

const CHAT: StreamKind = {
  ends: [mark('"finish_reason":', true)],
  hasUsageOption: true,
  errorEvent: (reason) => data({ error: { message: refusalMessage(reason), type: "upstream_error", param: null, code: reason } }),
};

const RESPONSES: StreamKind = {
  ends: ["completed", "incomplete", "failed"].map((state) => mark(`"response.${state}"`)),
  failures: [mark('"response.failed"')],
  hasUsageOption: false,
  errorEvent: (reason) => named("error", { type: "error", code: reason, message: refusalMessage(reason), param: null, sequence_number: 0 }),
};

const MESSAGES: StreamKind = {
  ends: [mark('"message_stop"')],
  hasUsageOption: false,
  errorEvent: (reason) => named("error", { type: "error", error: { type: "api_error", message: refusalMessage(reason) } }),
};

const GENERATED: StreamKind = {
  ends: [mark('"finishReason":', true), mark('"blockReason":', true)],
  hasUsageOption: false,
  errorEvent: (reason) => data({ error: { code: ERROR_CODES[reason].status, message: refusalMessage(reason), status: "UNAVAILABLE" } }),
};

const COHERE: StreamKind = {
  ends: [mark('"message-end"'), mark('"stream-end"')],
  failures: [mark('"finish_reason":"ERROR')],
  hasUsageOption: false,
  errorEvent: (reason) => named("message-end", { type: "message-end", delta: { finish_reason: "ERROR", error: refusalMessage(reason) } }),
};

/** Kinds by the end of the path, at any provider. The first match counts; other streams end with their connection. */
const KINDS_BY_PATH: readonly (readonly [RegExp, StreamKind])[] = [
  [/\/completions$/, CHAT],
  [/\/responses$/, RESPONSES],
  [/(?:\/messages|:streamRawPredict)$/, MESSAGES],
  [/:streamGenerateContent$/, GENERATED],
  [/^(?:\/v[12])?\/chat$/, COHERE],
];

/** `path`: below the provider, without the query. */
export const streamKindOf = (path: string): StreamKind | undefined => KINDS_BY_PATH.find(([pattern]) => pattern.test(path))?.[1];
