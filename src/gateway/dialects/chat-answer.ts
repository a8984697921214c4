import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { type GatewayErrorName, RefusalError, refusalMessage } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform } from "#gateway/request/plan.ts";
import { mediaType } from "#gateway/usage/usage.ts";
import { ANSWER_BYTES_MAX, type AnswerReader, answerReaderOf, isUnreadable, type OpenReader } from "./answer-readers.ts";
import { type AnswerFacts, errorOf } from "./completion.ts";
import type { Dialect, StreamTranslator } from "./dialect.ts";
import { type Json, objectOf, parsedJson, textOf } from "#gateway/http/json.ts";

/** Translates an answer of another dialect for a client that speaks OpenAI's: a whole answer, a stream or an error. */
export function createChatAnswer(dialect: Dialect, facts: AnswerFacts, { status, headers }: AnswerHead): AnswerTransform {
  const openReader = status < 400 ? answerReaderOf(mediaType(String(headers["content-type"] ?? ""))) : undefined;
  if (openReader !== undefined) return new StreamedAnswer(dialect.stream(facts), openReader);
  return createWholeAnswer(dialect, (body) => dialect.answer(objectOf(body) ?? {}, facts), status);
}

/** `translate` returns undefined for a body that is not an answer of the dialect. */
export function createWholeAnswer(
  dialect: Pick<Dialect, "error">,
  translate: (body: unknown) => Json | undefined,
  status: number,
): AnswerTransform {
  const gathered = new GatheredBytes();
  return {
    head: (head) => ({ ...head, headers: { ...head.headers, "content-type": "application/json" } }),
    chunk: (bytes) => {
      gathered.push(bytes);
      if (gathered.length > ANSWER_BYTES_MAX) throw new RefusalError({ name: "aig_answer_unreadable" });
      return undefined;
    },
    end: () => {
      const body = parsedJson(gathered.take().toString("utf8"));
      if (status >= 400) return jsonBytes(dialect.error(body, status));
      const answer = translate(body);
      if (answer === undefined) throw new RefusalError({ name: "aig_answer_unreadable" });
      return jsonBytes(answer);
    },
  };
}

const jsonBytes = (value: Json): Buffer => Buffer.from(JSON.stringify(value));

/** Ends the client's stream only if the provider's stream was complete. */
class StreamedAnswer implements AnswerTransform {
  readonly #translator: StreamTranslator;
  readonly #reader: AnswerReader;
  #output = "";
  #error: Json | undefined;

  constructor(translator: StreamTranslator, openReader: OpenReader) {
    this.#translator = translator;
    this.#reader = openReader((event) => {
      if (this.#error !== undefined) return;
      const { pieces, error } = translator.event(event);
      this.#write(pieces);
      this.#error = error;
    });
  }

  head(head: AnswerHead): AnswerHead {
    return { ...head, headers: { ...head.headers, "content-type": "text/event-stream; charset=utf-8" } };
  }

  chunk(bytes: Buffer): Buffer | undefined {
    this.#read(() => this.#reader.push(bytes));
    return this.#taken();
  }

  end(): Buffer | undefined {
    this.#read(() => this.#reader.end());
    const last = this.#translator.end();
    if (last === undefined) throw new RefusalError({ name: "aig_answer_cut" });
    this.#write(last);
    this.#output += "data: [DONE]\n\n";
    return this.#taken();
  }

  cut(reason: GatewayErrorName): Buffer {
    this.#write([this.#error ?? errorOf(refusalMessage(reason), "upstream_error", reason)]);
    return Buffer.from(this.#output);
  }

  #read(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      throw new RefusalError({ name: "aig_answer_unreadable" });
    }
    if (this.#error === undefined) return;
    const told = textOf(objectOf(this.#error["error"])?.["message"]) ?? "";
    throw new RefusalError({ name: "aig_answer_cut", message: `${refusalMessage("aig_answer_cut")}: ${told}` });
  }

  #write(pieces: readonly Json[]): void {
    for (const piece of pieces) this.#output += `data: ${JSON.stringify(piece)}\n\n`;
  }

  #taken(): Buffer | undefined {
    if (this.#output === "") return undefined;
    const bytes = Buffer.from(this.#output);
    this.#output = "";
    return bytes;
  }
}
