import { createHash } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { RowShape } from "#store/queries/rows.ts";
import { kyselyOver, type RunQuery } from "#store/queries/kysely-over.ts";
import type { Dialect } from "#store/queries/session.ts";
import { writtenBy } from "#store/queries/written.ts";
import type { AuditEntry, Change, Unit } from "./store.ts";

/** A running unit with the data collected for the end of its transaction. */
export interface OpenUnit extends Unit {
  readonly changes: readonly CollectedChange[];
  /** Names of the data that its queries change (`writtenBy`). */
  readonly written: ReadonlySet<string>;
  /** Rows of `AUDIT_ROW`. */
  readonly audits: readonly (readonly unknown[])[];
  /** Ends the unit: later use of its `db`, `change` or `audit` fails. Throws if the audit row is missing. */
  end(): void;
  /** Ends a failed unit. */
  abandon(): void;
}

/** A change whose value is already JSON, so that a value that cannot be serialized fails its own unit only. */
export interface CollectedChange {
  readonly kind: string;
  readonly id: string;
  readonly value: string | null;
}

export const AUDIT_ROW: RowShape = {
  table: "audit_log",
  columns: [
    "id",
    "at",
    "action",
    "actor_type",
    "actor_id",
    "actor_ip",
    "account_id",
    "zone_id",
    "resource_type",
    "resource_id",
    "before",
    "after",
    "api_date",
  ],
};

export interface UnitDeps {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly run: RunQuery;
}

export function openUnit({ dialect, clock, run }: UnitDeps): OpenUnit {
  const changes: CollectedChange[] = [];
  const audits: unknown[][] = [];
  const written = new Set<string>();
  let open = true;
  const assertOpen = (): void => {
    if (!open) throw new Error("this unit of work is over: await everything inside it");
  };
  return {
    changes,
    audits,
    written,
    clock,
    db: kyselyOver(
      dialect,
      async (sql, parameters) => {
        assertOpen();
        return run(sql, parameters);
      },
      (query) => {
        for (const name of writtenBy(query)) written.add(name);
      },
    ),
    change: ({ kind, id, value }: Change) => {
      assertOpen();
      changes.push({ kind, id, value: json(value) });
    },
    audit: (entry) => {
      assertOpen();
      audits.push(auditRow(entry, clock));
    },
    end: () => {
      open = false;
      if (changes.length > 0 && audits.length === 0)
        throw new Error("a unit that changes what planes see must say in the audit log who did it");
    },
    abandon: () => {
      open = false;
    },
  };
}

function auditRow(entry: AuditEntry, clock: Clock): unknown[] {
  const { action, actor, resource, before = null, after = null } = entry;
  const at = clock.nowMicros();
  return [
    newUlid(Math.floor(at / 1000)),
    isoMicros(at),
    action,
    actor.type,
    actor.id,
    actor.ip,
    entry.account_id,
    entry.zone_id,
    resource.type,
    resource.id,
    auditDocument(before),
    auditDocument(after),
    actor.api_date ?? null,
  ];
}

/** The audit log is kept, and must not fill the disk with copies of large objects that are often written. */
export const AUDIT_DOCUMENT_CHARS_MAX = 8_192;

/** The object, or how long it was and its digest, with what the API shows of it (control/access/audit-logs.ts). */
function auditDocument(value: object | null): string | null {
  const text = json(value);
  if (value === null || text === null || text.length <= AUDIT_DOCUMENT_CHARS_MAX) return text;
  const shown = "api_date" in value ? { api_date: value.api_date } : {};
  return JSON.stringify({ ...shown, left_out: { characters: text.length, sha256: createHash("sha256").update(text).digest("hex") } });
}

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

export const unavailable = (reason: string): PlatformError => new PlatformError("database_unavailable", { cause: new Error(reason) });

/** Rejects if the work takes longer. */
export async function withinTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(`a unit of work took more than ${timeoutMs} ms and was undone`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
