import type { Call } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { zoneReach } from "./grants.ts";
import { ZONE_READING_GROUPS } from "#model/access/permission-groups.ts";
import { ATTENTION_KINDS, ATTENTION_OBJECTS_MAX, type Attention, type AttentionKind } from "#model/access/attention.ts";
import { attentionLooks, type AttentionRow } from "#store/access/attention.ts";
import type { Store } from "#store/database/store.ts";

export interface AttentionReads {
  /** Lists problems of the account that need a person. Kinds without an object are left out. */
  list(call: Call, accountId: string): Promise<Attention[]>;
}

const DAY_MS = 86_400_000;
const EXPIRING_DAYS = 14;
const FAILED_DAYS = 2;
const CALLED_DAYS = 30;
/** Columns that hold names as a JSON array. */
const NAMES_OF: ReadonlySet<AttentionKind> = new Set(["certificate_failing", "certificate_expiring"]);

export function createAttentionReads({ store, clock }: { readonly store: Store; readonly clock: Clock }): AttentionReads {
  const looks = attentionLooks(ATTENTION_OBJECTS_MAX + 1);
  return {
    list: async ({ actor }, accountId) => {
      const now = clock.nowMs();
      const iso = (ms: number): string => isoMicros(ms * 1000);
      const scope = {
        accountId,
        // A credential that may read some zones must not learn of the others.
        reach: zoneReach(actor, ZONE_READING_GROUPS),
        expiringBefore: iso(now + EXPIRING_DAYS * DAY_MS),
        failedSinceMs: now - FAILED_DAYS * DAY_MS,
        calledSince: iso(now - CALLED_DAYS * DAY_MS).slice(0, 10),
      };
      const shown: Attention[] = [];
      for (const kind of ATTENTION_KINDS) {
        const rows = await looks[kind](store.read, scope);
        if (rows.length === 0) continue;
        const objects = rows.slice(0, ATTENTION_OBJECTS_MAX).map((row) => (NAMES_OF.has(kind) ? named(row) : row));
        shown.push({ kind, objects, has_more: rows.length > ATTENTION_OBJECTS_MAX });
      }
      return shown;
    },
  };
}

const named = (row: AttentionRow): AttentionRow => ({ ...row, name: (JSON.parse(row.name) as string[]).join(", ") });
