import { auditActor } from "#control/commit.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { zoneEntry } from "#snapshot/compile/zone-entry.ts";
import type { Op } from "#snapshot/entries.ts";
import { insertAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { type ControlFixture, controlOver } from "./control.ts";
import { EDGE_ADDRESS, startTwoPlanes, type TwoPlanes } from "./two-planes.ts";
import { recordOp, serialOp, zoneOp } from "./zone-entries.ts";

/** Control, nameserver and edge in one process, and two accounts in it: A is the first one, which the operator trusts, B another. */
export interface TwoAccounts extends ControlFixture {
  readonly store: Store;
  readonly clock: FixedClock;
  readonly planes: TwoPlanes;
  readonly a: string;
  readonly b: string;
  /** A zone of the account, made by control; how far its proof came is written into its row. */
  zone(accountId: string, name: string, state?: ZoneState): Promise<PlannedZoneRef>;
  setState(zoneId: string, state: ZoneState): Promise<void>;
  /** Sets the external data of a name, from the next lookup on. */
  elsewhere(name: string, type: string, content: string): void;
  noMore(name: string, type: string, content: string): void;
  /** Planes get the entries that control has written. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface ZoneState {
  readonly status: "pending" | "active" | "moved";
  readonly proof: ZoneProof;
}

const CHANGES_MAX = 1_000;

export const PROVED: ZoneState = { status: "active", proof: "delegation" };

export async function startTwoAccounts(store: Store, worldZones: readonly string[]): Promise<TwoAccounts> {
  const planes = await startTwoPlanes(
    [],
    worldZones.flatMap((name) => [zoneOp(name, name), serialOp(name, 1)]),
  );
  const clock = fixedClock("2026-03-01T00:00:00Z");
  const fixture = await controlOver(store, {
    ...{ clock, scanResolvers: [planes.resolver], edgeAddresses: [EDGE_ADDRESS] },
    // From here on control accepts B's claims, and the planes must not believe them.
    ownership: { activation: "delegation" },
  });
  const { control, call, account_id: a } = fixture;
  const b = newId();
  await store.write(({ db }) =>
    insertAccount(db, { id: b, name: "B", type: "standard", settings: "{}", created_on: "2026-03-02T00:00:00.000000Z" }),
  );
  const setState = async (zoneId: string, state: ZoneState): Promise<void> => {
    await store.write(async (unit) => {
      await unit.db
        .updateTable("zones")
        .set({ ...state })
        .where("id", "=", zoneId)
        .execute();
      const row = await zoneRowById(unit.db, zoneId);
      if (row === undefined) return;
      unit.change({ kind: "zone", id: zoneId, value: zoneEntry(row) });
      const { account_id } = row;
      unit.audit({
        action: "zone.state",
        actor: auditActor(call()),
        account_id,
        zone_id: zoneId,
        resource: { type: "zone", id: zoneId },
        after: state,
      });
    });
  };
  let rev = 0;
  const change = (name: string, type: string, content: string, isThere: boolean): void => {
    const zone = worldZones.find((one) => name === one || name.endsWith(`.${one}`)) ?? "";
    const op = recordOp(zone, name, type, content);
    planes.world.apply([isThere ? op : ({ ...op, value: null } as typeof op)]);
  };
  return {
    ...fixture,
    ...{ store, clock, planes, a, b, setState },
    zone: async (accountId, name, state = PROVED) => {
      const { id } = await control.zones.create(call(), { name, account: { id: accountId } });
      await setState(id, state);
      return { id, name, account_id: accountId, plan: "free" };
    },
    elsewhere: (name, type, content) => change(name, type, content, true),
    noMore: (name, type, content) => change(name, type, content, false),
    sync: async () => {
      for (
        let sets = await store.changesSince(rev, CHANGES_MAX);
        sets && sets.length > 0;
        sets = await store.changesSince(rev, CHANGES_MAX)
      )
        for (const set of sets) {
          planes.apply(...(set.changes as readonly Op[]));
          ({ rev } = set);
        }
    },
    close: planes.close,
  };
}
