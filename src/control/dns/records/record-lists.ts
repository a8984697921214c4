import { backgroundTurn } from "#kernel/background-turn.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type LongReads, releasing } from "#control/long-reads.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { Page, PageRequest, Reader } from "#control/call.ts";
import { createPageEnds } from "#control/page-ends.ts";
import { createTotals } from "#control/list-totals.ts";
import { recordTest } from "./list-filter.ts";
import type { RecordView } from "#control/dns/changes/record-view.ts";
import type { DnsRecord, DnsRecordQuery } from "#model/dns/dns-record.ts";
import { recordsByIds } from "#store/dns/dns-record-rows.ts";
import { recordById } from "#store/dns/dns-records.ts";
import { listRecordIds, listRecords, zoneState } from "#store/dns/record-lists.ts";
import type { RecordList, RecordPosition } from "#store/dns/record-pages.ts";
import type { Store } from "#store/database/store.ts";

export type ListDnsRecords = (
  zone: Pick<PlannedZoneRef, "id" | "account_id">,
  query: DnsRecordQuery,
  page: PageRequest,
  reader?: Reader,
) => Promise<Page<DnsRecord>>;

/** Records that are read and formatted at once: a few milliseconds. */
const TOGETHER_MAX = 1_000;
/** Records of a long page that are read and formatted in one tick, of which other long tasks have the next one. */
const PART = 250;
const ID_LENGTH = 32;
const ID = /.{32}/g;

interface RecordListsDeps {
  readonly store: Store;
  readonly view: RecordView;
  readonly longReads: LongReads;
}

/** Lists of a zone's records (SPEC 4.2, contract.md §3). */
export function createRecordLists({ store, view, longReads }: RecordListsDeps): ListDnsRecords {
  const totals = createTotals();
  const places = createPageEnds<RecordPosition["row"]>();
  return async (zone, query, { page, per_page }, reader) => {
    const state = await zoneState(store.read, zone.id);
    if (state === undefined) throw new PlatformError("zone_not_found");
    const test = recordTest(query);
    const key = JSON.stringify([zone.id, state, test]);
    const list: RecordList = { zone_id: zone.id, test, order: query.order ?? "name", direction: query.direction ?? "asc" };
    const offset = (page - 1) * per_page;
    const placesKey = JSON.stringify([key, list.order, list.direction]);
    const from = places.before(placesKey, offset);
    const window = { limit: per_page, offset, from, records: state.record_count, known_total: totals.get(key) };
    const remember = (items: number, row: RecordPosition["row"] | undefined): void => {
      if (row !== undefined) places.add(placesKey, { position: offset + items, row: placeOf(row) });
    };
    const { items, total } = await listRecords(store, list, { ...window, limit: Math.min(per_page, TOGETHER_MAX) });
    if (test !== null) totals.set(key, total);
    const shown = { page, per_page, total_count: total };
    remember(items.length, items.at(-1));
    if (items.length === per_page || offset + items.length >= total) return { items: items.map(view), ...shown };
    const place = await longReads.begin(zone.account_id, reader);
    const read = async (): Promise<AsyncIterableIterator<readonly DnsRecord[]>> => {
      const ids = await listRecordIds(store, list, window);
      remember(ids.length / ID_LENGTH, await recordById(store.read, zone.id, ids.slice(-ID_LENGTH)));
      return longReads.parts(place, recordsInParts(store, zone.id, ids, view));
    };
    return { items: [], more: await read().catch(releasing(place)), ...shown };
  };
}

/** Keeps only these columns, because thousands of places are cached. */
const placeOf = ({ name, type, id, content_key }: RecordPosition["row"]): RecordPosition["row"] => ({ name, type, id, content_key });

/**
 * Reads a long page in parts. The set of records is fixed at one moment; each is read later, and omitted if it was
 * deleted. No transaction stays open, so the client may read slowly.
 */
async function* recordsInParts(
  store: Store,
  zoneId: string,
  ids: string,
  view: RecordView,
): AsyncGenerator<readonly DnsRecord[], undefined> {
  const partLength = PART * ID_LENGTH;
  for (let start = 0; start < ids.length; start += partLength) {
    await backgroundTurn();
    const part = ids.slice(start, start + partLength).match(ID) ?? [];
    const rows = new Map((await recordsByIds(store.read, zoneId, part)).map((row) => [row.id, row]));
    yield part.flatMap((id) => {
      const row = rows.get(id);
      return row === undefined ? [] : [view(row)];
    });
  }
}
