import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { EntryKind, EntryTypes } from "#snapshot/entries.ts";
import type { Snapshot } from "#snapshot/feed.ts";
import type { Store, Unit } from "#store/database/store.ts";

/** The source of the rows, and their destination: an empty database that nobody else has opened. */
export interface RecoveryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly snapshot: Snapshot;
  /** The installation's name servers, assumed to be the pairs of the zones. */
  readonly nameServers: readonly string[];
}

/** Writes rows for all entries of a kind. */
export type Recover = (deps: RecoveryDeps) => Promise<void>;

/** A unit has limited time, so a set of any size is written in several units. */
const ENTRIES_A_UNIT = 500;

/** Writes each entry of the kind. */
export const each =
  <K extends EntryKind>(kind: K, write: (unit: Unit, id: string, entry: EntryTypes[K], deps: RecoveryDeps) => Promise<unknown>): Recover =>
  (deps) =>
    inUnits(deps, deps.snapshot.entries(kind), (unit, [id, entry]) => write(unit, id, entry, deps));

/** Runs `write` for each of them, some in each unit of work. */
export async function inUnits<T>(
  { store }: Pick<RecoveryDeps, "store">,
  items: Iterable<T>,
  write: (unit: Unit, item: T) => Promise<unknown>,
): Promise<void> {
  let some: T[] = [];
  const flush = async (): Promise<void> => {
    const these = some;
    some = [];
    await store.write(async (unit) => {
      for (const item of these) await write(unit, item);
    });
  };
  for (const item of items) if (some.push(item) >= ENTRIES_A_UNIT) await flush();
  if (some.length > 0) await flush();
}

/** The time of rows whose time is not in the copy. Rows that are read in the order of their times are one microsecond apart. */
export const timeOf = ({ clock }: Pick<RecoveryDeps, "clock">, offsetMicros = 0): string => isoMicros(clock.nowMicros() + offsetMicros);

/** The decrypted text; null if this installation's key does not open it. */
export function openedText({ sealer }: Pick<RecoveryDeps, "sealer">, sealed: string, context: string): string | null {
  try {
    return sealer.open(sealed, context).toString("utf8");
  } catch {
    return null;
  }
}
