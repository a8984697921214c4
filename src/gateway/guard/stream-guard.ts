import { EventStreamReader, EventTooLargeError } from "#wire/http/event-stream.ts";
import type { ScanResult } from "#rules/detectors/engine/scan.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform } from "#gateway/request/plan.ts";
import { scannedJson, TooManyContainersError } from "#gateway/http/json.ts";
import { eventTexts, TooDeepError } from "#gateway/streams/text-extraction.ts";
import { TextWatch, type WatchedDetectors } from "./incremental-scanner.ts";

export interface StreamGuardOptions {
  readonly watched: WatchedDetectors;
  /**
   * Called with the results of the texts at the end of the stream, or as soon as one has a finding. If it throws, the
   * stream ends.
   */
  readonly onResults: (results: readonly ScanResult[]) => void;
  /** Whether events wait until no finding can include them. */
  readonly holdsBack: boolean;
}

interface Held {
  readonly bytes: Buffer;
  /** For each text in the event, the length of the text that must be safe. */
  readonly needs: readonly { readonly channel: Channel; readonly length: number }[];
}

interface Channel {
  readonly watch: TextWatch;
  /** The number of the event with the latest piece of the text. */
  lastAt: number;
}

const UNREADABLE = [EventTooLargeError, TooDeepError, TooManyContainersError] as const;
const EVENT_BYTES_MAX = 32 * 1024 * 1024;
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const CHANNELS_MAX = 256;
/** A text that got no piece in this many events counts as complete, so that the events after it need not wait for the end. */
const SILENT_EVENTS = 64;

/** Inspects the texts in a stream of events; each text is inspected as a whole, however it is split. */
export class StreamGuard implements AnswerTransform {
  readonly #options: StreamGuardOptions;
  readonly #reader: EventStreamReader;
  readonly #channels = new Map<string, Channel>();
  readonly #held: Held[] = [];
  #heldBytes = 0;
  #events = 0;

  constructor(options: StreamGuardOptions) {
    this.#options = options;
    this.#reader = new EventStreamReader(({ event, data }) => this.#take(event, data), { eventBytesMax: EVENT_BYTES_MAX });
  }

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer | undefined {
    this.#read(() => this.#reader.push(bytes));
    if (!this.#options.holdsBack) return bytes;
    this.#check(false);
    return this.#released();
  }

  end(): Buffer | undefined {
    this.#read(() => this.#reader.end());
    this.#check(true);
    return this.#options.holdsBack ? this.#released() : undefined;
  }

  #read(action: () => void): void {
    try {
      action();
    } catch (error) {
      // Text that cannot be inspected must not pass.
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      throw new RefusalError({ name: "aig_answer_unreadable" });
    }
  }

  #take(event: string, data: string): void {
    const value = scannedJson(data);
    const texts = value === undefined ? [{ channel: "", text: `${data}\n` }] : eventTexts(value);
    const at = this.#events++;
    const needs = texts.map(({ channel: name, text }) => {
      const channel = this.#channelOf(name);
      channel.watch.push(text);
      channel.lastAt = at;
      return { channel, length: channel.watch.length };
    });
    if (!this.#options.holdsBack) return;
    const lines = data.split("\n").map((line) => `data: ${line}\n`);
    const bytes = Buffer.from(`${event === "" ? "" : `event: ${event}\n`}${lines.join("")}\n`);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES_MAX) throw new RefusalError({ name: "aig_answer_unreadable" });
    this.#held.push({ bytes, needs });
  }

  #channelOf(name: string): Channel {
    // No answer has as many channels; all further ones are treated as one text.
    const key = this.#channels.size < CHANNELS_MAX || this.#channels.has(name) ? name : "";
    let channel = this.#channels.get(key);
    if (channel === undefined) this.#channels.set(key, (channel = { watch: new TextWatch(this.#options.watched), lastAt: 0 }));
    return channel;
  }

  #check(isEnd: boolean): void {
    const channels = [...this.#channels.values()];
    if (isEnd || channels.some(({ watch }) => watch.isAlarmed)) this.#options.onResults(channels.map(({ watch }) => watch.end()));
  }

  #released(): Buffer | undefined {
    let count = 0;
    for (const { needs } of this.#held) {
      if (!needs.every(({ channel, length }) => channel.watch.safe >= length || this.#events - channel.lastAt > SILENT_EVENTS)) break;
      count++;
    }
    if (count === 0) return undefined;
    const out = this.#held.splice(0, count).map(({ bytes }) => bytes);
    for (const { length } of out) this.#heldBytes -= length;
    return Buffer.concat(out);
  }
}
