/** The bytes in use. */
interface Gauge {
  value: number;
}

/**
 * Memory that many holders share. A holder may have as much as is still free: one alone gets half, two get a third each.
 * So some of it is always left for a holder that has none, however much the others want.
 */
export class FairMemory {
  private readonly bytesMax: number;
  private readonly used: Gauge;
  private readonly byHolder = new Map<string, number>();

  constructor(bytesMax: number, used: Gauge) {
    this.bytesMax = bytesMax;
    this.used = used;
  }

  /** For one request: its bytes count for each of the holders, such as its client and the account that gets it. */
  share(...holders: readonly string[]): MemoryShare {
    return new MemoryShare(this, holders);
  }

  take(holders: readonly string[], bytes: number): boolean {
    // Others may have taken what was free, which matters only to those that need more.
    if (bytes === 0) return true;
    const free = this.bytesMax - this.used.value;
    if (bytes > free || holders.some((holder) => (this.byHolder.get(holder) ?? 0) + bytes > free)) return false;
    for (const holder of holders) this.byHolder.set(holder, (this.byHolder.get(holder) ?? 0) + bytes);
    this.used.value += bytes;
    return true;
  }

  give(holders: readonly string[], bytes: number): void {
    for (const holder of holders) {
      const left = (this.byHolder.get(holder) ?? 0) - bytes;
      if (left > 0) this.byHolder.set(holder, left);
      else this.byHolder.delete(holder);
    }
    this.used.value -= bytes;
  }
}

/** The part of the memory that one request has. */
export class MemoryShare {
  private readonly memory: FairMemory;
  private readonly holders: readonly string[];
  private bytes = 0;

  constructor(memory: FairMemory, holders: readonly string[]) {
    this.memory = memory;
    this.holders = holders;
  }

  /** Returns false and takes nothing if the memory is used up, or one of the holders has too much of it. */
  take(bytes: number): boolean {
    if (!this.memory.take(this.holders, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  /** Gives everything back. */
  release(): void {
    this.memory.give(this.holders, this.bytes);
    this.bytes = 0;
  }
}
