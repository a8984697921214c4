import type { AnswerHead, AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";

/** The transforms that a response passes through, in their order, and its head after them. */
export interface Transformed {
  /** Undefined if no transform applies: the response passes unchanged. */
  readonly transforms: readonly AnswerTransform[] | undefined;
  readonly head: AnswerHead;
}

/** Creates the transforms of a response. Throws a `RefusalError` if one of them refuses it. */
export function transformsFor(head: AnswerHead, makers: readonly MakeTransform[]): Transformed {
  const transforms: AnswerTransform[] = [];
  let current = head;
  for (const make of makers) {
    const transform = make(current);
    if (transform === undefined) continue;
    transforms.push(transform);
    current = transform.head(current);
  }
  if (transforms.length === 0) return { transforms: undefined, head };
  // The length is known only at the end.
  const { "content-length": _length, ...headers } = current.headers;
  return { transforms, head: { status: current.status, headers } };
}

/** The receiver of an answer that has passed its transforms. */
export interface PassageSink {
  readonly isSettled: boolean;
  /** Whether it will resume a source, since the client is far behind. */
  readonly isBehind: boolean;
  /** Returns false if the client is far behind; then the sink resumes `source` later. */
  passed(bytes: Buffer, source: PassageSource): boolean;
  /** With the remaining output. */
  ended(last: Buffer | undefined): void;
  refused(error: unknown): void;
  flush(): void;
}

interface PassageSource {
  resume(): void;
}

/** The passage of an answer through its transforms. While one of them works in slices, further chunks and the end wait. */
export class Passage {
  readonly transforms: readonly AnswerTransform[];
  readonly #sink: PassageSink;
  #waiting: Buffer[] | undefined;
  #isEndWaiting = false;

  constructor(transforms: readonly AnswerTransform[], sink: PassageSink) {
    this.transforms = transforms;
    this.#sink = sink;
  }

  /** Returns false if no more should come before `source` is resumed. */
  chunk(bytes: Buffer, source: PassageSource): boolean {
    if (this.#waiting !== undefined) {
      this.#waiting.push(bytes);
      return false;
    }
    let isOn: boolean;
    try {
      isOn = this.#through(0, bytes, source);
    } catch (error) {
      this.#sink.refused(error);
      return true;
    }
    if (workingOf(this.transforms) === undefined) return isOn;
    this.#waiting = [];
    void this.#goOn(source);
    return false;
  }

  end(): void {
    if (this.#waiting !== undefined) this.#isEndWaiting = true;
    else this.#endFrom(transformedEnd(this.transforms));
  }

  /** Sends the output of the transforms from this one on for the bytes; returns false if the client is far behind. */
  #through(first: number, bytes: Buffer | undefined, source: PassageSource): boolean {
    let current = bytes;
    for (let at = first; at < this.transforms.length && current !== undefined && current.length > 0; at++)
      current = this.transforms[at]!.chunk(current);
    return current === undefined || current.length === 0 || this.#sink.passed(current, source);
  }

  async #goOn(source: PassageSource): Promise<void> {
    try {
      for (let at = workingOf(this.transforms); at !== undefined; at = workingOf(this.transforms)) {
        const transform = this.transforms[at]!;
        await transform.work;
        if (this.#sink.isSettled) return;
        this.#through(at + 1, transform.worked?.(), source);
      }
    } catch (error) {
      return this.#sink.refused(error);
    }
    const chunks = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const bytes of chunks) if (!this.#sink.isSettled) this.chunk(bytes, source);
    if (this.#sink.isSettled) return;
    this.#sink.flush();
    if (this.#waiting !== undefined) return;
    if (this.#isEndWaiting) this.end();
    else if (!this.#sink.isBehind) source.resume();
  }

  #endFrom(steps: Generator<Promise<void>, Buffer | undefined, undefined>): void {
    if (this.#sink.isSettled) return;
    let last: Buffer | undefined;
    try {
      const step = steps.next();
      if (step.done !== true) {
        void step.value.then(() => this.#endFrom(steps));
        return this.#sink.flush();
      }
      last = step.value;
    } catch (error) {
      return this.#sink.refused(error);
    }
    this.#sink.ended(last);
  }
}

/** The last transform that still works: its output passes none that does. */
function workingOf(transforms: readonly AnswerTransform[]): number | undefined {
  for (let at = transforms.length - 1; at >= 0; at--) if (transforms[at]!.work !== undefined) return at;
  return undefined;
}

/** The remaining output of each transform, passed through those after it. Yields work that the next step waits for. */
function* transformedEnd(transforms: readonly AnswerTransform[]): Generator<Promise<void>, Buffer | undefined, undefined> {
  let left: Buffer | undefined;
  for (const transform of transforms) {
    const out: (Buffer | undefined)[] = [];
    if (left !== undefined && left.length > 0) {
      out.push(transform.chunk(left));
      yield* workOf(transform, out);
    }
    out.push(transform.end());
    yield* workOf(transform, out);
    const passed = out.filter((bytes) => bytes !== undefined);
    left = passed.length < 2 ? passed[0] : Buffer.concat(passed);
  }
  return left;
}

function* workOf(transform: AnswerTransform, out: (Buffer | undefined)[]): Generator<Promise<void>, void, undefined> {
  while (transform.work !== undefined) {
    yield transform.work;
    out.push(transform.worked?.());
  }
}
