import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Silence, SilencesCreate, SilencesUpdate } from "#model/events/notification.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import {
  deleteSilence,
  insertSilence,
  policyById,
  silenceById,
  silencesOf,
  type SilenceRow,
  updateSilence,
} from "#store/events/notifications.ts";
import type { AuditEntry, Store, Unit } from "#store/database/store.ts";

/**
 * Periods in which a policy sends nothing. Throws `notification_not_found`, and `notification_invalid` with the location
 * of the fault.
 */
export interface Silences {
  list(accountId: string): Promise<readonly Silence[]>;
  get(accountId: string, id: string): Promise<Silence>;
  /** All or none. */
  create(call: Call, accountId: string, silences: SilencesCreate): Promise<readonly Silence[]>;
  /** All or none. */
  update(call: Call, accountId: string, silences: SilencesUpdate): Promise<readonly Silence[]>;
  delete(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

const SILENCES_MAX = 500;

export function createSilences(deps: { readonly store: Store; readonly clock: Clock }): Silences {
  const { store, clock } = deps;
  const now = (): string => isoMicros(clock.nowMicros());
  return {
    list: async (accountId) => (await silencesOf(store.read, accountId)).map(view),
    get: async (accountId, id) => view(await own(store.read, accountId, id)),

    create: (call, accountId, silences) =>
      commit(deps, call, async (unit) => {
        if ((await silencesOf(unit.db, accountId)).length + silences.length > SILENCES_MAX)
          throw invalid("", `an account has at most ${SILENCES_MAX} silences`);
        const rows: SilenceRow[] = [];
        for (const [at, { policy_id, start_time, end_time }] of silences.entries()) {
          if ((await policyById(unit.db, accountId, policy_id)) === undefined)
            throw invalid(`/${at}/policy_id`, `the account has no notification policy ${policy_id}`);
          const row = {
            id: newId(),
            policy_id,
            account_id: accountId,
            ...times(at, start_time, end_time),
            created_on: now(),
            modified_on: now(),
          };
          await insertSilence(unit.db, row);
          unit.audit({ ...audit(call, row, "notification_silence.create"), after: view(row) });
          rows.push(row);
        }
        return rows.map(view);
      }),

    update: (call, accountId, silences) =>
      commit(deps, call, async (unit) => {
        const rows: SilenceRow[] = [];
        for (const [at, { id, start_time, end_time }] of silences.entries()) {
          const before = await own(unit.db, accountId, id);
          const shown = view(before);
          const changed = { ...times(at, start_time ?? shown.start_time, end_time ?? shown.end_time), modified_on: now() };
          await updateSilence(unit.db, id, changed);
          const row = { ...before, ...changed };
          unit.audit({ ...audit(call, row, "notification_silence.update"), before: shown, after: view(row) });
          rows.push(row);
        }
        return rows.map(view);
      }),

    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const row = await own(unit.db, accountId, id);
        await deleteSilence(unit.db, id);
        unit.audit({ ...audit(call, row, "notification_silence.delete"), before: view(row) });
        return { id };
      }),
  };
}

function times(at: number, start: string, end: string): Pick<SilenceRow, "start_ms" | "end_ms"> {
  const [start_ms, end_ms] = [parseTimestamp(start), parseTimestamp(end)];
  if (start_ms === undefined) throw invalid(`/${at}/start_time`, "start_time must be a time like 2030-01-31T08:00:00Z");
  if (end_ms === undefined) throw invalid(`/${at}/end_time`, "end_time must be a time like 2030-01-31T08:00:00Z");
  if (end_ms <= start_ms) throw invalid(`/${at}/end_time`, "end_time must be after start_time");
  return { start_ms, end_ms };
}

async function own(db: Unit["db"], accountId: string, id: string): Promise<SilenceRow> {
  const row = await silenceById(db, accountId, id);
  if (row === undefined) throw new PlatformError("notification_not_found");
  return row;
}

const audit = (call: Call, row: SilenceRow, action: string): AuditEntry => ({
  action,
  actor: auditActor(call),
  account_id: row.account_id,
  zone_id: null,
  resource: { type: "notification_silence", id: row.id },
});

const view = (row: SilenceRow): Silence => ({
  id: row.id,
  policy_id: row.policy_id,
  start_time: new Date(row.start_ms).toISOString(),
  end_time: new Date(row.end_ms).toISOString(),
  created_at: row.created_on,
  updated_at: row.modified_on,
});

const invalid = (source: string, message: string): PlatformError => new PlatformError("notification_invalid", { message, source });
