import type { HeaderObject } from "#wire/http/header-object.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { KeyMask, MaskedBody } from "#gateway/http/key-mask.ts";
import { type BeginningLook, createBeginningLook, MaskedEvents } from "#gateway/streams/masked-events.ts";
import type { AnswerHandler } from "./answer-handler.ts";

/** One for each mask, because making it costs more than using it. */
const looks = new WeakMap<KeyMask, BeginningLook>();

const eventsOf = (mask: KeyMask): MaskedEvents => {
  let look = looks.get(mask);
  if (look === undefined) looks.set(mask, (look = createBeginningLook(mask.keys)));
  return new MaskedEvents(mask.keys, look);
};

/** Masks keys in an answer before anything else sees it: client, log, cache and inspections. One for each request. */
export class MaskedAnswer implements AnswerHandler {
  readonly #mask: KeyMask;
  readonly #body: MaskedBody;
  readonly #handler: AnswerHandler;
  #events: MaskedEvents | undefined;

  constructor(mask: KeyMask, handler: AnswerHandler) {
    this.#mask = mask;
    this.#body = mask.body();
    this.#handler = handler;
  }

  onHead(status: number, headers: HeaderObject): void {
    if (/^text\/event-stream\b/i.test(String(headers["content-type"] ?? ""))) this.#events = eventsOf(this.#mask);
    this.#handler.onHead(status, this.#mask.fields(headers));
  }

  onData(bytes: Buffer): void {
    this.#pass(this.#body.push(bytes));
  }

  onReadEnd(): void {
    this.#handler.onReadEnd?.();
  }

  onEnd(): void {
    this.#pass(this.#body.end());
    const rest = this.#events?.end();
    if (rest !== undefined && rest.length > 0) this.#handler.onData(rest);
    this.#handler.onEnd();
  }

  onFailed(name: GatewayErrorName): void {
    this.#handler.onFailed(name);
  }

  #pass(bytes: Buffer): void {
    const shown = this.#events === undefined || bytes.length === 0 ? bytes : this.#events.push(bytes);
    if (shown.length > 0) this.#handler.onData(shown);
  }
}
