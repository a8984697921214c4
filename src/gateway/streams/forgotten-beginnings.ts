/**
 * Beginnings of keys that texts ended with whose places are no longer remembered. Any place that is not remembered may
 * have said any of them. There are at most as many as the keys have characters.
 */
export class ForgottenBeginnings {
  readonly #keys: readonly string[];
  readonly #earlier = new Set<string>();
  /** Those of the event that is being read. */
  readonly #current = new Set<string>();

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  get size(): number {
    return this.#earlier.size + this.#current.size;
  }

  /** Also adds what a shorter end of `said` begins. */
  add(said: string): void {
    for (let from = 0; from < said.length; from++) {
      const end = said.slice(from);
      if (this.#earlier.has(end) || this.#current.has(end)) continue;
      if (this.#keys.some((key) => key.startsWith(end))) this.#current.add(end);
    }
  }

  endEvent(): void {
    for (const said of this.#current) this.#earlier.add(said);
    this.#current.clear();
  }

  /**
   * Those that the text goes on with. An event says each place once, so that only places without their positions in lists
   * can go on in the same event.
   */
  continuedBy(text: string, isOnce: boolean): readonly string[] {
    const continued: string[] = [];
    for (const set of isOnce ? [this.#earlier] : [this.#earlier, this.#current])
      for (const said of set) if (this.#keys.some((key) => isContinued(key, said, text))) continued.push(said);
    return continued;
  }
}

/** Whether the text has the rest of the key, or all of the text belongs to it. */
function isContinued(key: string, said: string, text: string): boolean {
  if (key[said.length] !== text[0] || !key.startsWith(said)) return false;
  return text.length < key.length - said.length ? key.startsWith(text, said.length) : text.startsWith(key.slice(said.length));
}
