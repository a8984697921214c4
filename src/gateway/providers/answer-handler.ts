import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { HeaderObject } from "#wire/http/header-object.ts";

/** Receives the response. The head comes before data, and data before the end; after `onEnd` or `onFailed` nothing is called. */
export interface AnswerHandler {
  onHead(status: number, headers: HeaderObject): void;
  /** The bytes do not change later. */
  onData(bytes: Buffer): void;
  /** No more data follows in this tick. */
  onReadEnd?(): void;
  onEnd(): void;
  /** The response will not arrive, or not completely. */
  onFailed(name: GatewayErrorName): void;
}
