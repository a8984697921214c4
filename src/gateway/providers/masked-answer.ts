import type { HeaderObject } from "#wire/http/header-object.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { KeyMask, MaskedBody } from "#gateway/http/key-mask.ts";
import { type BeginningLook, createBeginningLook } from "#gateway/streams/beginning-look.ts";
import { MaskedAmazonEvents } from "#gateway/streams/masked-amazon-events.ts";
import { MaskedEvents } from "#gateway/streams/masked-events.ts";
import { MaskedValues } from "#gateway/streams/masked-values.ts";
import type { AnswerHandler } from "./answer-handler.ts";

/** One for each mask, because making it costs more than using it. */
const looks = new WeakMap<KeyMask, BeginningLook>();

const lookOf = (mask: KeyMask): BeginningLook => {
  let look = looks.get(mask);
  if (look === undefined) looks.set(mask, (look = createBeginningLook(mask.keys)));
  return look;
};

/** Types of bodies without texts that a reader joins. */
const FILES = /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|zip|pdf)\b/i;

const AMAZON = /^application\/vnd\.amazon\.eventstream\b/i;

/** Masks keys in an answer before anything else sees it: client, log, cache and inspections. One for each request. */
export class MaskedAnswer implements AnswerHandler {
  readonly #mask: KeyMask;
  readonly #body: MaskedBody;
  readonly #handler: AnswerHandler;
  /** For keys that are said piece by piece. */
  #pieces: MaskedEvents | MaskedValues | undefined;
  /** Masks whole keys as well, because it must know which messages change. */
  #amazon: MaskedAmazonEvents | undefined;

  constructor(mask: KeyMask, handler: AnswerHandler) {
    this.#mask = mask;
    this.#body = mask.body();
    this.#handler = handler;
  }

  onHead(status: number, headers: HeaderObject): void {
    const type = String(headers["content-type"] ?? "");
    if (AMAZON.test(type)) this.#amazon = new MaskedAmazonEvents(this.#mask.keys, lookOf(this.#mask), this.#body);
    else if (!FILES.test(type))
      this.#pieces = new (/^text\/event-stream\b/i.test(type) ? MaskedEvents : MaskedValues)(this.#mask.keys, lookOf(this.#mask));
    this.#handler.onHead(status, this.#mask.fields(headers));
  }

  onData(bytes: Buffer): void {
    if (this.#amazon === undefined) return this.#pass(this.#body.push(bytes));
    const shown = this.#amazon.push(bytes);
    if (shown.length > 0) this.#handler.onData(shown);
  }

  onReadEnd(): void {
    this.#handler.onReadEnd?.();
  }

  onEnd(): void {
    if (this.#amazon === undefined) this.#pass(this.#body.end());
    const rest = (this.#amazon ?? this.#pieces)?.end();
    if (rest !== undefined && rest.length > 0) this.#handler.onData(rest);
    this.#handler.onEnd();
  }

  onFailed(name: GatewayErrorName): void {
    this.#handler.onFailed(name);
  }

  #pass(bytes: Buffer): void {
    const shown = this.#pieces === undefined || bytes.length === 0 ? bytes : this.#pieces.push(bytes);
    if (shown.length > 0) this.#handler.onData(shown);
  }
}
