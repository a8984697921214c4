import { AmazonEventStreamReader, type AmazonMessage, AmazonStreamError, encodeAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import { RefusalError, refusalMessage } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** Whether a path of Amazon Bedrock answers with a stream in Amazon's framing. */
export const isAmazonPath = (rest: string): boolean => /\/(?:converse-stream|invoke-with-response-stream)$/.test(rest);

export const isAmazonStream = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  mediaType(String(headers["content-type"] ?? "")) === "application/vnd.amazon.eventstream" &&
  (headers["content-encoding"] ?? "identity") === "identity";

export const watchingAmazon: MakeTransform = (head) => (isAmazonStream(head) ? new AmazonStreamTruth() : undefined);

const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/**
 * In the last of the events that InvokeModelWithResponseStream wraps. A model's text cannot contain them, because its
 * quotes are escaped.
 */
const WRAPPED_ENDS = ['"amazon-bedrock-invocationMetrics":', '"type":"message_stop"'];

/**
 * Forwards such a stream and watches for its end, which is a message here (in event streams an event; stream-end.ts). If
 * the provider breaks it off, the client gets an exception message, and the stream is cut.
 */
class AmazonStreamTruth implements AnswerTransform {
  readonly #reader = new AmazonEventStreamReader((message) => this.#message(message), { messageBytesMax: MESSAGE_BYTES_MAX });
  #hasEnd = false;
  /** The provider's last message reports a failure. */
  #isToldFailed = false;
  #isDamaged = false;

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer {
    try {
      if (!this.#isDamaged) this.#reader.push(bytes);
    } catch (error) {
      if (!(error instanceof AmazonStreamError)) throw error;
      // The client finds the damage itself; the stream only must not count as complete.
      this.#isDamaged = true;
    }
    return bytes;
  }

  end(): undefined {
    if (this.#isDamaged || this.#isToldFailed || !this.#hasEnd || !this.#reader.isBetween)
      throw new RefusalError({ name: "aig_answer_cut" });
  }

  cut(reason: Parameters<typeof refusalMessage>[0]): Buffer | undefined {
    if (this.#isDamaged || this.#isToldFailed || !this.#reader.isBetween) return undefined;
    const headers = {
      ":exception-type": "modelStreamErrorException",
      ":content-type": "application/json",
      ":message-type": "exception",
    };
    return encodeAmazonMessage(headers, Buffer.from(JSON.stringify({ message: refusalMessage(reason) })));
  }

  #message({ headers, payload }: AmazonMessage): void {
    if (headers.get(":message-type") !== "event") this.#isToldFailed = true;
    else if (headers.get(":event-type") === "messageStop") this.#hasEnd = true;
    else if (headers.get(":event-type") === "chunk" && !this.#hasEnd) this.#hasEnd = isLastChunk(payload);
  }
}

function isLastChunk(payload: Buffer): boolean {
  const wrapped = /^\{"bytes":"([A-Za-z0-9+/=]+)"/.exec(payload.toString("latin1"))?.[1];
  if (wrapped === undefined) return false;
  const text = Buffer.from(wrapped, "base64").toString("latin1");
  return WRAPPED_ENDS.some((end) => text.includes(end));
}
