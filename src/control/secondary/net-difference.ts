import { inTicks } from "#kernel/in-ticks.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { ResourceRecord } from "#wire/dns/message.ts";
import { formatName } from "#wire/dns/name.ts";
import { TransferError, type ZoneDifference } from "#wire/dns/transfer-reader.ts";
import { keyOfRecord, typeName } from "./copied-record.ts";

/** Records per tick; other requests run in between. */
const RECORDS_AT_ONCE = 500;

/** The net effect of several differences on one record. */
export interface NetChange {
  /** The record, for its name and type. */
  readonly sample: ResourceRecord;
  /** Whether the zone must have contained it before the first difference. */
  readonly existed: boolean;
  /** The record after the last difference; null if it is deleted. */
  readonly after: ResourceRecord | null;
}

/**
 * Combines consecutive differences, by `RecordKey`. Throws TransferError if they contradict each other: a record cannot
 * be deleted or added twice.
 */
export async function netDifference(
  differences: readonly ZoneDifference[],
  counts: (record: ResourceRecord) => boolean,
): Promise<LargeMap<NetChange>> {
  const net = new LargeMap<NetChange>();
  const step = (record: ResourceRecord, after: ResourceRecord | null): void => {
    if (!counts(record)) return;
    const key = keyOfRecord(record);
    const known = net.get(key);
    if (known && (known.after === null) === (after === null))
      throw new TransferError(`the differences ${after ? "add" : "remove"} ${formatName(record.name)} ${typeName(record.type)} twice`);
    net.set(key, { sample: record, existed: known?.existed ?? after === null, after });
  };
  for (const { removed, added } of differences) {
    await inTicks(removed, RECORDS_AT_ONCE, (record) => step(record, null));
    await inTicks(added, RECORDS_AT_ONCE, (record) => step(record, record));
  }
  return net;
}
