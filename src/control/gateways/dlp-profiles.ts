import { randomUUID } from "node:crypto";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DlpEntryWrite, DlpProfile, DlpProfileWrite } from "#model/gateways/dlp-profile.ts";
import { namedProfiles } from "#model/gateways/dlp.ts";
import { storedSettings } from "#model/gateways/gateway.ts";
import { type Profile, PROFILES, PROFILES_BY_ID } from "#rules/detectors/catalog/profiles.ts";
import { RegexError } from "#rules/regex/regex.ts";
import { gatewayObjectsAt, type GatewayObjectRow } from "#store/gateways/gateway-objects.ts";
import { gatewaysOf } from "#store/gateways/gateways.ts";
import type { Unit } from "#store/database/store.ts";
import { dlpProfileEntry, entryDetector, type StoredDlpEntry, type StoredDlpProfile } from "./object-entries.ts";
import { changedRow, invalidInput, loadObject, type ObjectDeps, objectRow, valueOf, writeObject } from "./objects.ts";

/** Profiles for policies of data loss prevention: predefined ones, and the account's own. */
export interface DlpProfiles {
  list(accountId: string): Promise<readonly DlpProfile[]>;
  /** Throws `gateway_not_found` for an unknown id. */
  get(accountId: string, id: string): Promise<DlpProfile>;
  /** This and the following methods accept the account's own profiles only. */
  getOwn(accountId: string, id: string): Promise<DlpProfile>;
  /** Throws `gateway_input_invalid` with the location of the mistake. */
  create(call: Call, accountId: string, body: DlpProfileWrite): Promise<DlpProfile>;
  update(call: Call, accountId: string, id: string, body: DlpProfileWrite): Promise<DlpProfile>;
  /** Throws `gateway_input_invalid` while a policy uses it. */
  delete(call: Call, accountId: string, id: string): Promise<DlpProfile>;
}

const PROFILES_MAX = 100;
const placeOf = (account_id: string) => ({ account_id, gateway_id: "", kind: "dlp_profile", parent_id: "" }) as const;

export function createDlpProfiles(deps: ObjectDeps): DlpProfiles {
  const { store } = deps;
  const write = (call: Call, before: GatewayObjectRow | null, after: GatewayObjectRow | null, unit: Unit): Promise<void> => {
    const id = (after ?? before)?.id ?? "";
    return writeObject(unit, {
      call,
      before,
      after,
      audited: ownView,
      ops: [{ kind: "dlp_profile", id, value: after && dlpProfileEntry(after) }],
    });
  };
  return {
    list: async (accountId) => [...PROFILES.map(view), ...(await gatewayObjectsAt(store.read, placeOf(accountId))).map(ownView)],
    get: async (accountId, id) => {
      const profile = PROFILES_BY_ID.get(id);
      return profile === undefined ? ownView(await loadObject(store.read, placeOf(accountId), id)) : view(profile);
    },
    getOwn: async (accountId, id) => ownView(await loadObject(store.read, placeOf(accountId), id)),
    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        const others = await gatewayObjectsAt(unit.db, placeOf(accountId));
        if (others.length >= PROFILES_MAX) throw invalidInput("/name", `An account can have at most ${PROFILES_MAX} custom profiles.`);
        checkName(others, body.name);
        const after = objectRow(deps, placeOf(accountId), randomUUID(), stored(body, []));
        await write(call, null, after, unit);
        return ownView(after);
      }),
    update: (call, accountId, id, body) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, placeOf(accountId), id);
        checkName(
          (await gatewayObjectsAt(unit.db, placeOf(accountId))).filter((row) => row.id !== id),
          body.name,
        );
        const after = changedRow(deps, before, stored(body, valueOf<StoredDlpProfile>(before).entries));
        await write(call, before, after, unit);
        return ownView(after);
      }),
    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, placeOf(accountId), id);
        const user = (await gatewaysOf(unit.db, accountId)).find(({ settings }) => {
          const { dlp } = storedSettings(settings);
          return dlp !== null && namedProfiles(dlp).includes(id);
        });
        if (user !== undefined) throw invalidInput("/profile_id", `A policy of the gateway ${user.id} names this profile.`);
        await write(call, before, null, unit);
        return ownView(before);
      }),
  };
}

/** Throws `gateway_input_invalid` if the account lacks one of the profiles. */
export async function requireProfiles(db: Unit["db"], accountId: string, ids: readonly string[]): Promise<void> {
  const others = ids.filter((id) => !PROFILES_BY_ID.has(id));
  if (others.length === 0) return;
  const own = new Set((await gatewayObjectsAt(db, placeOf(accountId))).map(({ id }) => id));
  const unknown = others.find((id) => !own.has(id));
  if (unknown !== undefined) throw invalidInput("/dlp", `Profile ${unknown} does not exist; GET /dlp/profiles lists the profiles.`);
}

function checkName(others: readonly GatewayObjectRow[], name: string): void {
  if (others.some((row) => valueOf<StoredDlpProfile>(row).name === name))
    throw invalidInput("/name", `The account already has a profile with the name ${name}.`);
}

function stored({ name, description = null, entries }: DlpProfileWrite, before: readonly StoredDlpEntry[]): StoredDlpProfile {
  return { name, description, entries: entries.map((entry, index) => storedEntry(entry, `/entries/${index}`, before)) };
}

function storedEntry({ entry_id, ...entry }: DlpEntryWrite, place: string, before: readonly StoredDlpEntry[]): StoredDlpEntry {
  if ((entry.pattern === undefined) === (entry.words === undefined)) throw invalidInput(place, "An entry must have a pattern or words.");
  const made = { ...entry, id: before.find(({ id }) => id === entry_id)?.id ?? randomUUID() };
  try {
    entryDetector(made);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new PlatformError("gateway_input_invalid", {
      message: error.message,
      source: entry.words === undefined ? `${place}/pattern/regex` : `${place}/words`,
    });
  }
  return made;
}

const view = ({ id, name, description, detectors }: Profile): DlpProfile => ({
  id,
  name,
  description,
  type: "predefined",
  entries: detectors.map((detector) => ({ id: detector.rule_id, name: detector.name, enabled: true, type: "predefined", profile_id: id })),
});

function ownView(row: GatewayObjectRow): DlpProfile {
  const { name, description, entries } = valueOf<StoredDlpProfile>(row);
  return {
    id: row.id,
    name,
    description,
    type: "custom",
    entries: entries.map((entry) => ({ ...entry, type: "custom" as const, profile_id: row.id })),
    created_at: row.created_at,
    updated_at: row.modified_at,
  };
}
