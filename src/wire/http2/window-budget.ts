/** Bounds on the growth of request windows beyond their first size, in bytes. */
export interface WindowLimits {
  /** Limits of all requests of one connection, of one address, and of the thread. */
  readonly connectionBytesMax: number;
  readonly addressBytesMax: number;
  readonly bytesMax: number;
}

/**
 * Bounds the memory that grown windows may take of a thread. A window is a promise: the client may send all of it when
 * the origin stops reading. So windows grow only while the budget covers what they promise, and give it back when their
 * request ends.
 */
export class WindowBudget {
  readonly limits: WindowLimits;
  /** Bytes promised in all. */
  bytes = 0;
  private readonly byAddress = new Map<string, number>();

  constructor(limits: WindowLimits) {
    this.limits = limits;
  }

  /** For one connection; connections of the same address share the bound of an address. */
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

/** The share of one connection in the budget. */
export class WindowShare {
  /** Bytes that its windows promise. */
  bytes = 0;
  private readonly budget: WindowBudget;
  private readonly address: string;

  constructor(budget: WindowBudget, address: string) {
    this.budget = budget;
    this.address = address;
  }

  /** Returns false and takes nothing if a bound would be exceeded. */
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
