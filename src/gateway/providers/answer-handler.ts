import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { HeaderObject } from "#wire/http/header-object.ts";

/** Who asked. Heads come before data, data before the end; after `onEnd` or `onFailed` nothing comes. */
export interface AnswerHandler {
  onHead(status: number, headers: HeaderObject): void;
  /** Bytes that nobody will change. */
  onData(bytes: Buffer): void;
  /** Nothing more comes in this turn. */
  onReadEnd?(): void;
  onEnd(): void;
  /** The answer will not come, or not come to its end. */
  onFailed(name: GatewayErrorName): void;
}
