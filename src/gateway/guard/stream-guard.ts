import type { Slices, Work } from "#kernel/process/slices.ts";
import { EventStreamReader, EventTooLargeError, type StreamEvent } from "#wire/http/event-stream.ts";
import type { ScanResult } from "#rules/detectors/engine/scan.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform } from "#gateway/request/plan.ts";
import { scannedJson, TooManyContainersError } from "#gateway/http/json.ts";
import { eventTexts, type FoundText, TooDeepError } from "#gateway/streams/text-extraction.ts";
import { TextWatch, type WatchedDetectors } from "./incremental-scanner.ts";
import { scanWhole } from "./whole-scan.ts";

export interface StreamGuardOptions {
  readonly slices: Slices;
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
  /** The number of the event with the latest chunk of the text. */
  lastAt: number;
}

const UNREADABLE = [EventTooLargeError, TooDeepError, TooManyContainersError] as const;
/** A longer event is inspected by itself, in slices. To read it as a value would take its thread in one go. */
const EVENT_LENGTH_READ_MAX = 256 * 1024;
/** Microseconds for a character that is read as JSON, and for an event. */
const READ_COST = 1 / 100;
const EVENT_COST = 2;
const EVENT_BYTES_MAX = 32 * 1024 * 1024;
const HELD_BYTES_MAX = 64 * 1024 * 1024;
const CHANNELS_MAX = 256;
/** A text without a chunk in this many events counts as complete, so that the events after it need not wait for the end. */
const SILENT_EVENTS = 64;

/**
 * Inspects the texts in a stream of events; each text is inspected as a whole, however it is split. What a chunk brings is
 * inspected in slices if it takes long.
 */
export class StreamGuard implements AnswerTransform {
  work: Promise<void> | undefined;
  readonly #options: StreamGuardOptions;
  readonly #reader: EventStreamReader;
  readonly #channels = new Map<string, Channel>();
  /** Results of events that were inspected by themselves. */
  readonly #results: ScanResult[] = [];
  readonly #held: Held[] = [];
  #read: StreamEvent[] = [];
  #failure: { readonly error: unknown } | undefined;
  #heldBytes = 0;
  #events = 0;

  constructor(options: StreamGuardOptions) {
    this.#options = options;
    this.#reader = new EventStreamReader((event) => void this.#read.push(event), { eventBytesMax: EVENT_BYTES_MAX });
  }

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer | undefined {
    this.#inspect(() => this.#reader.push(bytes), false);
    return this.#options.holdsBack ? this.worked() : bytes;
  }

  end(): Buffer | undefined {
    this.#inspect(() => this.#reader.end(), true);
    return this.worked();
  }

  worked(): Buffer | undefined {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#options.holdsBack && this.work === undefined ? this.#released() : undefined;
  }

  /** Inspects what was read: at once, or in `work`. */
  #inspect(read: () => void, isEnd: boolean): void {
    let isOver = false;
    let onOver = (): void => void (isOver = true);
    const failed = (error: unknown): void => {
      this.#failure = { error };
      onOver();
    };
    this.#options.slices.start(this.#takeRead(read, isEnd), () => onOver(), failed);
    if (!isOver)
      this.work = new Promise((resolve) => {
        onOver = () => {
          this.work = undefined;
          resolve();
        };
      });
    else if (this.#failure !== undefined) throw this.#failure.error;
  }

  *#takeRead(read: () => void, isEnd: boolean): Work<void> {
    try {
      read();
      const events = this.#read;
      this.#read = [];
      for (const { event, data } of events) yield* this.#take(event, data);
    } catch (error) {
      // Text that cannot be inspected must not pass.
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      throw new RefusalError({ name: "aig_answer_unreadable" });
    }
    if (isEnd || this.#options.holdsBack) this.#check(isEnd);
  }

  *#take(event: string, data: string): Work<void> {
    const at = this.#events++;
    const needs: { readonly channel: Channel; readonly length: number }[] = [];
    yield EVENT_COST + Math.min(data.length, EVENT_LENGTH_READ_MAX) * READ_COST;
    if (data.length > EVENT_LENGTH_READ_MAX) this.#results.push(...(yield* scanWhole(Buffer.from(data), [this.#options.watched.compiled])));
    else
      for (const { channel: name, text } of textsOf(data)) {
        const channel = this.#channelOf(name);
        yield* channel.watch.push(text);
        channel.lastAt = at;
        needs.push({ channel, length: channel.watch.length });
      }
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
    const isAlarmed = this.#results.some(({ findings, limited }) => findings.length > 0 || limited);
    if (isEnd || isAlarmed || channels.some(({ watch }) => watch.isAlarmed))
      this.#options.onResults([...channels.map(({ watch }) => watch.end()), ...this.#results]);
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

function textsOf(data: string): readonly FoundText[] {
  const value = scannedJson(data);
  return value === undefined ? [{ channel: "", text: `${data}\n` }] : eventTexts(value);
}
