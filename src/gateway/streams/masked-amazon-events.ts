import { sealAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import type { MaskedBody } from "#gateway/http/key-mask.ts";
import { type BeginningLook, Glance } from "./beginning-look.ts";
import { addPieces, type EventForm, HELD_BYTES_MAX, MaskedTexts } from "./masked-texts.ts";
import { jsonPlacedTexts } from "./placed-texts.ts";

const NOTHING = Buffer.alloc(0);
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/**
 * Masks keys in an `application/vnd.amazon.eventstream`, whole or in chunks over several messages. A masked message gets
 * the checksum of its new bytes. After a message that is too long or invalid, only whole keys are masked.
 */
export class MaskedAmazonEvents {
  readonly #body: MaskedBody;
  readonly #texts: MaskedTexts;
  readonly #glance: Glance;
  #rest: Buffer = NOTHING;
  #isBroken = false;

  constructor(keys: readonly string[], look: BeginningLook, body: MaskedBody) {
    this.#body = body;
    this.#texts = new MaskedTexts(keys, MESSAGES);
    this.#glance = new Glance(look, this.#texts, (bytes) => [bytes]);
  }

  push(bytes: Buffer): Buffer {
    if (this.#isBroken) return this.#body.push(bytes);
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const out: Buffer[] = [];
    let at = 0;
    while (!this.#isBroken && all.length - at >= PRELUDE_BYTES) {
      const length = all.readUInt32BE(at);
      this.#isBroken = length > HELD_BYTES_MAX || length < PRELUDE_BYTES + all.readUInt32BE(at + 4) + CHECKSUM_BYTES;
      if (this.#isBroken || all.length - at < length) break;
      this.#take(all.subarray(at, at + length), out);
      at += length;
    }
    if (this.#isBroken) {
      addPieces(out, this.#texts.release());
      out.push(this.#body.push(all.subarray(at)));
    }
    // The bytes may be part of a chunk that others use again.
    this.#rest = this.#isBroken || at === all.length ? NOTHING : Buffer.from(all.subarray(at));
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
  }

  end(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return Buffer.concat([...this.#texts.end(), this.#body.push(rest), this.#body.end()]);
  }

  #take(message: Buffer, out: Buffer[]): void {
    const shown = this.#body.push(message, true);
    if (shown !== message) sealAmazonMessage(shown);
    if (this.#glance.passes(shown)) out.push(shown);
    else addPieces(out, this.#texts.take(Buffer.from(shown)));
  }
}

const MESSAGES: EventForm = {
  textsOf: (raw) => jsonPlacedTexts(raw, PRELUDE_BYTES + raw.readUInt32BE(4), raw.length - CHECKSUM_BYTES),
  seal: sealAmazonMessage,
};
