import type { StreamEvent } from "#wire/http/event-stream.ts";
import { type AnswerFacts, chunkOf, errorOf, type FinishReason, signatureMembers, usageChunksOf } from "./completion.ts";
import type { StreamStep, StreamTranslator } from "./dialect.ts";
import {
  googleBlock,
  googleCall,
  googleCounts,
  googleError,
  googleFacts,
  googleFinish,
  googleParts,
  googleRefusal,
} from "./google-answer.ts";
import { googleImages, googleLogprobs, groundingMembers } from "./google-extras.ts";
import { type Json, countOf, objectOf, objectsOf, parsedJson, textOf } from "#gateway/http/json.ts";

/** One candidate of the answer. */
interface Choice {
  calls: number;
  images: number;
  /** For the places of citations, which follow the text. */
  text: string;
  finish: FinishReason | undefined;
}

const NEW_CHOICE: Choice = { calls: 0, images: 0, text: "", finish: undefined };

/** Longer than any grounded answer; citations behind it end here. */
const TEXT_CHARACTERS_MAX = 1_000_000;

/** No model returns more candidates. */
const CHOICES_MAX = 64;

/**
 * Reads a stream of generated content: each event is a part of the answer, and it ends when every candidate has a finish
 * reason.
 */
export class GoogleStream implements StreamTranslator {
  #facts: AnswerFacts;
  #last: Json = {};
  #blocked: string | undefined;
  readonly #choices = new Map<number, Choice>();

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  event({ data }: StreamEvent): StreamStep {
    const body = objectOf(parsedJson(data));
    if (body === undefined) return { pieces: [], error: errorOf("the provider sent an event that is not JSON", "upstream_error") };
    if (body["error"] !== undefined) return { pieces: [], error: googleError(body, 502) };
    if (this.#choices.size === 0) this.#facts = googleFacts(body, this.#facts);
    this.#blocked ??= googleBlock(body);
    if (googleCounts(body) !== undefined) this.#last = body;
    return { pieces: objectsOf(body["candidates"]).flatMap((candidate) => this.#candidate(candidate)) };
  }

  end(): readonly Json[] | undefined {
    const choices = [...this.#choices];
    const first: Json[] = [];
    if (this.#blocked !== undefined && choices.length === 0) {
      choices.push([0, { ...NEW_CHOICE, finish: "content_filter" }]);
      first.push(chunkOf(this.#facts, 0, { role: "assistant", content: null, refusal: this.#blocked }));
    }
    if (choices.length === 0 || choices.some(([, { finish }]) => finish === undefined)) return undefined;
    const last = [...first, ...choices.map(([index, { finish = "stop" }]) => chunkOf(this.#facts, index, {}, finish))];
    return [...last, ...usageChunksOf(this.#facts, googleCounts(this.#last))];
  }

  #candidate(candidate: Json): readonly Json[] {
    const index = countOf(candidate["index"]);
    let choice = this.#choices.get(index);
    const pieces: Json[] = [];
    if (choice === undefined) {
      if (this.#choices.size >= CHOICES_MAX) return [];
      this.#choices.set(index, (choice = { ...NEW_CHOICE }));
      pieces.push(chunkOf(this.#facts, index, { role: "assistant", content: "", refusal: null }));
    }
    for (const part of googleParts(candidate)) {
      const delta = this.#delta(part, index, choice);
      if (delta !== undefined) pieces.push(chunkOf(this.#facts, index, delta));
    }
    const logprobs = googleLogprobs(candidate);
    if (logprobs !== undefined) pieces.push(chunkOf(this.#facts, index, {}, null, logprobs));
    const grounding = groundingMembers(candidate, choice.text);
    if (Object.keys(grounding).length > 0) pieces.push(chunkOf(this.#facts, index, grounding));
    if (textOf(candidate["finishReason"]) !== undefined) {
      choice.finish = googleFinish(candidate["finishReason"], choice.calls > 0);
      const refusal = choice.text === "" && choice.calls === 0 && choice.images === 0 ? googleRefusal(candidate) : undefined;
      if (refusal !== undefined) pieces.push(chunkOf(this.#facts, index, { refusal }));
    }
    return pieces;
  }

  #delta(part: Json, index: number, choice: Choice): Json | undefined {
    if (objectOf(part["functionCall"]) !== undefined) {
      const at = choice.calls++;
      return { tool_calls: [{ index: at, ...googleCall(part, this.#facts, index, at) }] };
    }
    const images = googleImages([part], choice.images);
    choice.images += images.length;
    if (images.length > 0) return { images };
    const text = textOf(part["text"]) ?? "";
    // Only the last part of a text is signed.
    const signature = part["text"] === undefined ? undefined : textOf(part["thoughtSignature"]);
    if (part["thought"] === true)
      return text === "" && signature === undefined ? undefined : { reasoning_content: text, ...signatureMembers(signature) };
    if (choice.text.length < TEXT_CHARACTERS_MAX) choice.text += text;
    return text === "" && signature === undefined ? undefined : { content: text, ...signatureMembers(signature) };
  }
}
