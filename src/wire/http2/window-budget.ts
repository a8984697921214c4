/** By how much the windows of requests may stand above the size that each begins with, in bytes. */
export interface WindowLimits {
  /** Of all requests of one connection, of one address, and of the thread. */
  readonly connectionBytesMax: number;
  readonly addressBytesMax: number;
  readonly bytesMax: number;
}

/**
 * What grown windows may take of a thread's memory. A window is a promise: the client may send all of it at the moment when
 * the origin stops reading. So windows grow only while there is room for what they promise, and give it back when their
 * request ends.
 */
export class WindowBudget {
  readonly limits: WindowLimits;
  /** What is promised in all. */
  bytes = 0;
  private readonly byAddress = new Map<string, number>();

  constructor(limits: WindowLimits) {
    this.limits = limits;
  }

  /** For one connection; connections of the same address share that one's part. */
  forConnection(address: string): WindowShare {
    return new WindowShare(this, address);
  }

  take(address: string, bytes: number): boolean {
    const held = this.byAddress.get(address) ?? 0;
    if (held + bytes > this.limits.addressBytesMax || this.bytes + bytes > this.limits.bytesMax) return false;
    this.byAddress.set(address, held + bytes);
    this.bytes += bytes;
    return true;
  }

  give(address: string, bytes: number): void {
    const held = (this.byAddress.get(address) ?? 0) - bytes;
    if (held > 0) this.byAddress.set(address, held);
    else this.byAddress.delete(address);
    this.bytes -= bytes;
  }
}

/** What one connection has of the budget. */
export class WindowShare {
  /** What its windows promise. */
  bytes = 0;
  private readonly budget: WindowBudget;
  private readonly address: string;

  constructor(budget: WindowBudget, address: string) {
    this.budget = budget;
    this.address = address;
  }

  /** False, and nothing is taken, where a bound would be passed. */
  take(bytes: number): boolean {
    if (this.bytes + bytes > this.budget.limits.connectionBytesMax || !this.budget.take(this.address, bytes)) return false;
    this.bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    if (bytes === 0) return;
    this.bytes -= bytes;
    this.budget.give(this.address, bytes);
  }
}
