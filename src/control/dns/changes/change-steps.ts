import { backgroundTurn } from "#kernel/background-turn.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { type RecordContentRow, writeOf } from "./record-view.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsRecordWrite } from "#model/dns/dns-record.ts";
import { type PreparedRecord, prepareRecord, type RecordPolicy, TTL_AUTOMATIC } from "#model/dns/prepared-record.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";

export type Part = Exclude<keyof RecordChanges, "prepared" | "rows">;

/** A record is removed from the zone, added to it, or replaced. */
export interface ChangeStep {
  readonly part: Part;
  /** Position within the part. */
  readonly index: number;
  readonly remove: DnsRecordRow | null;
  readonly place: DnsRecordRow | null;
  /** Why the step is invalid, known without reading the zone. No step follows it. */
  readonly error: PlatformError | null;
}

/** A validated write, or its error. */
type Checked = PreparedRecord | PlatformError;

/** A write that is invalid only because of its name, but acceptable if the zone already has the name. */
interface Doubtful {
  readonly record: PreparedRecord;
  readonly otherwise: PlatformError;
}

/** Changes after all checks that do not depend on the zone's records. */
export interface PreparedChanges {
  readonly changes: RecordChanges;
  /** Ids of records that the changes refer to. */
  readonly ids: readonly string[];
  readonly puts: readonly Checked[];
  readonly posts: readonly (Checked | Doubtful)[];
  readonly restores: readonly Checked[];
  readonly doubtfulNames: readonly string[];
  /** Set if the only change is one new, invalid record: the zone need not be read. */
  readonly failedAlone: PlatformError | null;
}

interface StepContext {
  readonly zone: PlannedZoneRef;
  readonly policy: RecordPolicy;
  readonly now: string;
  /** The doubtful names that the zone has. */
  readonly namesInUse: ReadonlySet<string>;
  /** Identifier of a new record; absent: a random one. */
  readonly nextId?: () => string;
}

export async function prepareChanges(changes: RecordChanges, zone: PlannedZoneRef, policy: RecordPolicy): Promise<PreparedChanges> {
  const { deletes = [], patches = [], puts = [], posts = [], restores = [], rows = [] } = changes;
  const check = (write: DnsRecordWrite): Checked => checked(() => prepareRecord(write, zone, policy));
  const checkNew = (write: DnsRecordWrite): Checked | Doubtful => {
    const otherwise = check(write);
    if (!(otherwise instanceof PlatformError && otherwise.errorName === "dns_name_invalid")) return otherwise;
    const record = checked(() => prepareRecord(write, zone, { ...policy, names: "any" }));
    return record instanceof PlatformError ? otherwise : { record, otherwise };
  };
  // A restored record is checked without the operator's current rules for names and TXT content.
  const past: RecordPolicy = { ...policy, names: "any", txtContent: "as_sent" };
  const ids = new Set([deletes, patches, puts, restores, rows].flatMap((items) => items.map(({ id }) => id)));
  const preparedPosts: readonly (Checked | Doubtful)[] = [...(await eachInSlices(posts, checkNew)), ...(changes.prepared ?? [])];
  const [first] = preparedPosts;
  return {
    changes,
    ids: [...ids],
    puts: await eachInSlices(puts, check),
    posts: preparedPosts,
    restores: await eachInSlices(restores, (row) => checked(() => prepareRecord(writeOf(row, {}), zone, past, judgedBefore(row)))),
    doubtfulNames: preparedPosts.flatMap((post) => ("otherwise" in post ? [post.record.name] : [])),
    failedAlone: ids.size === 0 && preparedPosts.length === 1 && first instanceof PlatformError ? first : null,
  };
}

function checked(prepare: () => PreparedRecord): Checked {
  try {
    return prepare();
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
}

const SLICE = 500;

/** Yields to the event loop regularly: an import has a hundred thousand records. */
async function eachInSlices<T, R>(items: readonly T[], work: (item: T) => R): Promise<R[]> {
  const done: R[] = [];
  for (const item of items) {
    done.push(work(item));
    if (done.length % SLICE === 0) await backgroundTurn();
  }
  return done;
}

/** The steps in order. `existing` contains the records of `prepared.ids` that exist. */
export function planSteps(prepared: PreparedChanges, existing: readonly DnsRecordRow[], scene: StepContext): readonly ChangeStep[] {
  const { deletes = [], patches = [], puts = [], restores = [], rows: given = [] } = prepared.changes;
  const steps: ChangeStep[] = [];
  const rows = new Map(existing.map((row) => [row.id, row]));
  /** False if the step failed: later steps do not matter. */
  const add = (part: Part, index: number, remove: DnsRecordRow | null, to: DnsRecordRow | PlatformError | null): boolean => {
    const error = to instanceof PlatformError ? to : null;
    const place = to instanceof PlatformError ? null : to;
    steps.push({ part, index, remove, place, error });
    if (place) rows.set(place.id, place);
    else if (remove) rows.delete(remove.id);
    return error === null;
  };
  const change = (part: Part, index: number, id: string, to: (row: DnsRecordRow) => DnsRecordRow | PlatformError | null): boolean => {
    const row = rows.get(id);
    return row === undefined ? add(part, index, null, new PlatformError("dns_record_not_found")) : add(part, index, row, to(row));
  };

  const taken =
    deletes.every(({ id }, i) => change("deletes", i, id, () => null)) &&
    restores.every(({ id }, i) => !rows.has(id) || change("restores", i, id, () => null)) &&
    patches.every(({ id, ...body }, i) => change("patches", i, id, (row) => patched(row, body, scene))) &&
    puts.every(({ id }, i) =>
      change("puts", i, id, (row) => overwritten(row, puts[i] as DnsRecordWrite, prepared.puts[i] as Checked, scene)),
    ) &&
    given.every((row, i) => change("puts", puts.length + i, row.id, () => ({ ...row, modified_on: scene.now }))) &&
    prepared.posts.every((post, i) => add("posts", i, null, newRow(post, scene))) &&
    restores.every((row, i) => add("restores", i, null, restoredRow(row, prepared.restores[i] as Checked, scene)));
  return taken ? steps : steps.slice(0, steps.findIndex(({ error }) => error !== null) + 1);
}

const patched = (row: DnsRecordRow, body: DnsRecordWrite, { zone, policy, now }: StepContext): DnsRecordRow | PlatformError =>
  changedRow(
    row,
    checked(() => prepareRecord({ ...writeOf(row, body), ...named(body) }, zone, policy, judgedBefore(row))),
    now,
  );

/** A refused PUT is accepted if it only repeats values that the record already has. */
const overwritten = (
  row: DnsRecordRow,
  body: DnsRecordWrite,
  to: Checked,
  { zone, policy, now }: StepContext,
): DnsRecordRow | PlatformError =>
  changedRow(row, to instanceof PlatformError ? checked(() => prepareRecord(body, zone, policy, judgedBefore(row))) : to, now);

/** A proxied record has no individual TTL to keep. */
const judgedBefore = <Row extends RecordContentRow>(row: Row): Partial<PreparedRecord> =>
  row.proxied === 1 ? { ...row, ttl: TTL_AUTOMATIC } : row;

const changedRow = (row: DnsRecordRow, to: Checked, now: string): DnsRecordRow | PlatformError =>
  to instanceof PlatformError ? to : { ...row, ...to, ...noteTimes(to, row, now), modified_on: now };

const newRow = (post: Checked | Doubtful, { zone, now, namesInUse, nextId = newId }: StepContext): DnsRecordRow | PlatformError => {
  const to = "otherwise" in post ? (namesInUse.has(post.record.name) ? post.record : post.otherwise) : post;
  return to instanceof PlatformError ? to : createdRow(nextId(), to, zone.id, now);
};

export const createdRow = (id: string, record: PreparedRecord, zone_id: string, now: string): DnsRecordRow => ({
  id,
  zone_id,
  ...record,
  ...noteTimes(record, null, now),
  created_on: now,
  modified_on: now,
});

/** The record as it was, including its times, except the time of modification. */
const restoredRow = (row: RecordContentRow, to: Checked, { zone, now }: StepContext): DnsRecordRow | PlatformError =>
  to instanceof PlatformError ? to : { ...row, ...to, zone_id: zone.id, modified_on: now };

/** The fields in the body of a PATCH. Null removes a value from fields that can be absent, and is ignored for others. */
const named = (body: DnsRecordWrite): DnsRecordWrite =>
  Object.fromEntries(Object.entries(body).filter(([field, value]) => value !== undefined && !(value === null && NEVER_NONE.has(field))));

const NEVER_NONE: ReadonlySet<string> = new Set(["proxied", "ttl"]);

/** Times of the last change of comment and tags, once these were set. */
function noteTimes(
  after: PreparedRecord,
  before: DnsRecordRow | null,
  now: string,
): Pick<DnsRecordRow, "comment_modified_on" | "tags_modified_on"> {
  return {
    comment_modified_on: after.comment === (before?.comment ?? null) ? (before?.comment_modified_on ?? null) : now,
    tags_modified_on: after.tags === (before?.tags ?? "[]") ? (before?.tags_modified_on ?? null) : now,
  };
}

/** Applied in this order of parts, and within a part in the order of its items (contract.md §3, "Batch"). */
export interface RecordChanges {
  readonly deletes?: readonly { readonly id: string }[];
  /** Each changes the given fields. */
  readonly patches?: readonly (DnsRecordWrite & { readonly id: string })[];
  /** Each replaces a record; absent fields get their default. */
  readonly puts?: readonly (DnsRecordWrite & { readonly id: string })[];
  readonly posts?: readonly DnsRecordWrite[];
  /** New records after `posts`, already validated and in stored form, as from an import. */
  readonly prepared?: readonly PreparedRecord[];
  /** Existing records in a new stored form, as from a transfer; reported like `puts`. */
  readonly rows?: readonly DnsRecordRow[];
  /**
   * Records that are restored under their former ids, whether they exist or not. They are checked against each other
   * only, not against the records that they replace.
   */
  readonly restores?: readonly RecordContentRow[];
}
