import { randomBytes, randomInt } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { OutboundAddressAllowed } from "#control/outbound.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import {
  LOG_DATASET,
  LOG_FIELDS,
  type LogpushJob,
  type LogpushJobCreate,
  type LogpushJobUpdate,
  type LogpushSettings,
} from "#model/events/logpush.ts";
import {
  deleteLogpushJob,
  insertLogpushJob,
  logpushJobById,
  type LogpushJobRow,
  logpushJobsOf,
  updateLogpushJob,
} from "#store/events/logpush-jobs.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { LogUpload } from "./destination.ts";
import { readDestination, upload } from "./upload.ts";
import { isOwnershipToken, isSameDestination, ownershipToken, restoredDestination, redactedDestination } from "./destination-text.ts";
import { destinationContext, type LogPusher } from "./pusher.ts";

/** Jobs that push the logs of an account's gateways. Throws `logpush_job_not_found` and `logpush_invalid`. */
export interface LogpushJobs {
  list(accountId: string): Promise<readonly LogpushJob[]>;
  /** Throws for an unknown dataset. */
  ofDataset(accountId: string, dataset: string): Promise<readonly LogpushJob[]>;
  fieldsOf(dataset: string): Readonly<Record<string, string>>;
  get(accountId: string, id: string): Promise<LogpushJob>;
  /** Requires that the destination accepts a test file. */
  create(call: Call, accountId: string, body: LogpushJobCreate): Promise<LogpushJob>;
  /** Omitted fields keep their value; a new destination must accept a test file. */
  update(call: Call, accountId: string, id: string, body: LogpushJobUpdate): Promise<LogpushJob>;
  delete(call: Call, accountId: string, id: string): Promise<{ id: number }>;
  /** Whether the destination accepts a test file. */
  validate(destination: string): Promise<{ valid: boolean; message: string }>;
  /** Whether a job of the account uses the destination. */
  exists(accountId: string, destination: string): Promise<{ exists: boolean }>;
  /** Sends a file whose content proves that its reader has access to the destination. */
  challenge(accountId: string, destination: string): Promise<{ valid: boolean; message: string; filename: string }>;
  owns(accountId: string, destination: string, challenge: string): { valid: boolean };
  readonly pusher: LogPusher;
}

export interface LogpushJobsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly allowed: OutboundAddressAllowed;
  readonly pusher: LogPusher;
}

const JOBS_MAX = 100;
/** ai-gateway.md: 4 enabled jobs. */
const ENABLED_MAX = 4;
/** Maximum time that a caller waits for a destination. */
const TRY_MS = 10_000;

export function createLogpushJobs(deps: LogpushJobsDeps): LogpushJobs {
  const { store, clock, sealer, allowed, pusher } = deps;
  const key = sealer.derive("logpush ownership");
  const open = (row: LogpushJobRow): string => sealer.open(row.destination, destinationContext(row.id)).toString();
  const view = (row: LogpushJobRow): LogpushJob => ({
    id: row.id,
    dataset: LOG_DATASET,
    enabled: row.enabled === 1,
    destination_conf: redactedDestination(open(row)),
    kind: "",
    ...(JSON.parse(row.settings) as LogpushSettings),
    last_complete: row.last_complete,
    last_error: row.last_error,
    error_message: row.error_message,
  });
  const load = async (db: Unit["db"], accountId: string, id: string): Promise<LogpushJobRow> => {
    const row = await logpushJobById(db, accountId, Number(id));
    if (row === undefined) throw new PlatformError("logpush_job_not_found");
    return row;
  };
  const list = async (accountId: string): Promise<readonly LogpushJob[]> => (await logpushJobsOf(store.read, accountId)).map(view);

  /** Why the destination rejects the file; empty if it accepts. */
  const faultOf = async (destination: string, file: Omit<LogUpload, "day">): Promise<string> => {
    const nowMs = clock.nowMs();
    const day = new Date(nowMs).toISOString().slice(0, 10).replaceAll("-", "");
    const place = readDestination(destination, allowed);
    try {
      await upload(place, { ...file, day }, { allowed, nowMs, totalMs: TRY_MS });
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const requireDestination = async (accountId: string, text: string, challenge: string | undefined): Promise<void> => {
    readDestination(text, allowed);
    if (challenge !== undefined && challenge !== "" && !isOwnershipToken(challenge, ownershipToken(key, accountId, text)))
      throw new PlatformError("logpush_invalid", {
        message: "the ownership challenge does not match the destination",
        source: "/ownership_challenge",
      });
    const fault = await faultOf(text, TEST_FILE);
    if (fault === "") return;
    throw new PlatformError("logpush_invalid", { message: `error validating destination: ${fault}`, source: "/destination_conf" });
  };
  const requireRoom = async (db: Unit["db"], accountId: string, id: number): Promise<void> => {
    const others = (await logpushJobsOf(db, accountId)).filter((row) => row.id !== id && row.enabled === 1);
    if (others.length >= ENABLED_MAX)
      throw new PlatformError("logpush_invalid", { message: `an account has at most ${ENABLED_MAX} enabled jobs`, source: "/enabled" });
  };
  const audit = (unit: Unit, call: Call, action: string, before: LogpushJobRow | null, after: LogpushJobRow | null): void => {
    const row = (after ?? before) as LogpushJobRow;
    unit.audit({
      action: `logpush_job.${action}`,
      actor: auditActor(call),
      account_id: row.account_id,
      zone_id: null,
      resource: { type: "logpush_job", id: String(row.id) },
      before: before && view(before),
      after: after && view(after),
    });
  };

  return {
    pusher,
    list,
    ofDataset: (accountId, dataset) => {
      requireDataset(dataset);
      return list(accountId);
    },
    fieldsOf: (dataset) => {
      requireDataset(dataset);
      return LOG_FIELDS;
    },
    get: async (accountId, id) => view(await load(store.read, accountId, id)),

    create: async (call, accountId, body) => {
      await requireDestination(accountId, body.destination_conf, body.ownership_challenge);
      return commit(deps, call, async (unit) => {
        if ((await logpushJobsOf(unit.db, accountId)).length >= JOBS_MAX)
          throw new PlatformError("logpush_invalid", { message: `an account has at most ${JOBS_MAX} jobs` });
        // Random, so that data about a deleted job is never used for a new one.
        const id = randomInt(1, 2 ** 31);
        const enabled = body.enabled === true;
        if (enabled) await requireRoom(unit.db, accountId, id);
        const row: LogpushJobRow = {
          id,
          account_id: accountId,
          dataset: body.dataset,
          enabled: enabled ? 1 : 0,
          destination: sealer.seal(body.destination_conf, destinationContext(id)),
          settings: JSON.stringify(settingsOf(body, NO_SETTINGS)),
          since_ms: clock.nowMs(),
          last_complete: null,
          last_error: null,
          error_message: null,
        };
        await insertLogpushJob(unit.db, row);
        audit(unit, call, "create", null, row);
        return view(row);
      });
    },

    update: async (call, accountId, id, body) => {
      const now = await load(store.read, accountId, id);
      const given = body.destination_conf === undefined ? undefined : restoredDestination(body.destination_conf, open(now));
      if (given !== undefined && given !== open(now)) await requireDestination(accountId, given, body.ownership_challenge);
      const updated = await commit(deps, call, async (unit) => {
        const before = await load(unit.db, accountId, id);
        const enabled = body.enabled ?? before.enabled === 1;
        if (enabled) await requireRoom(unit.db, accountId, before.id);
        const values = {
          enabled: enabled ? 1 : 0,
          settings: JSON.stringify(settingsOf(body, JSON.parse(before.settings) as LogpushSettings)),
          ...(given === undefined ? {} : { destination: sealer.seal(given, destinationContext(before.id)) }),
          // Logs from the time in which a job was disabled are not pushed.
          ...(enabled && before.enabled === 0 ? { since_ms: clock.nowMs() } : {}),
        };
        await updateLogpushJob(unit.db, before.id, values);
        audit(unit, call, "update", before, { ...before, ...values });
        return view({ ...before, ...values });
      });
      pusher.hurry(now.id);
      return updated;
    },

    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const row = await load(unit.db, accountId, id);
        await deleteLogpushJob(unit.db, row.id);
        audit(unit, call, "delete", row, null);
        return { id: row.id };
      }),

    validate: async (destination) => {
      const message = await faultOf(destination, TEST_FILE);
      return { valid: message === "", message };
    },
    exists: async (accountId, destination) => ({
      exists: (await logpushJobsOf(store.read, accountId)).some((row) => isSameDestination(open(row), destination)),
    }),
    challenge: async (accountId, destination) => {
      const filename = `ownership-challenge-${randomBytes(4).toString("hex")}.txt`;
      const body = Buffer.from(ownershipToken(key, accountId, destination));
      const message = await faultOf(destination, { name: filename, form: "text", body });
      return { valid: message === "", message, filename: message === "" ? filename : "" };
    },
    owns: (accountId, destination, challenge) => ({ valid: isOwnershipToken(challenge, ownershipToken(key, accountId, destination)) }),
  };
}

/** The test file that existing receivers expect. */
const TEST_FILE = { name: "test.txt.gz", form: "gzip", body: gzipSync('{"content":"tests"}\n') } as const;

const NO_SETTINGS: LogpushSettings = {
  name: null,
  output_options: null,
  max_upload_bytes: null,
  max_upload_records: null,
  max_upload_interval_seconds: null,
  frequency: null,
};

const settingsOf = (body: LogpushJobUpdate, before: LogpushSettings): LogpushSettings => {
  const names = Object.keys(NO_SETTINGS) as (keyof LogpushSettings)[];
  return { ...before, ...Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))) };
};

function requireDataset(dataset: string): void {
  if (dataset !== LOG_DATASET) throw new PlatformError("logpush_job_not_found", { message: `The dataset ${dataset} does not exist.` });
}
