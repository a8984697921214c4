import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Zone } from "#model/zones/zone.ts";
import type { Call } from "#control/call.ts";
import type { ControlDeps } from "#control/control-deps.ts";
import { type FixedClock, fixedClock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { type ControlFixture, controlOver } from "./control.ts";
import { type ParentZone, startParentZone } from "./parent-zones.ts";

/** The operator's account, two unrelated accounts, and a top-level domain that delegates. */
export interface Claimants extends Omit<ControlFixture, "account_id"> {
  readonly store: Store;
  readonly parent: ParentZone;
  readonly clock: FixedClock;
  readonly operator: string;
  readonly a: string;
  readonly b: string;
  create(account: string, name: string, type?: Zone["type"]): Promise<Zone & { readonly notes: readonly string[] }>;
  /** Runs the checks of some minutes. */
  look(): Promise<void>;
  status(id: string): Promise<string>;
}

export const PAIRS = ["ns1.pool.net", "ns2.pool.net", "ns3.pool.net", "ns4.pool.net", "ns5.pool.net", "ns6.pool.net"] as const;

/** Everything ends with the body. */
export async function withClaimants(
  body: (world: Claimants) => Promise<void>,
  options: { readonly nameServers?: readonly string[]; readonly ownership?: ControlDeps["ownership"] } = {},
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-owners-"));
  const clock = fixedClock(Date.now());
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock });
  const parent = await startParentZone(directory, "com");
  try {
    const fixture = await controlOver(store, {
      clock,
      scanResolvers: [parent.address],
      parentServers: { isAllowed: () => true, port: parent.port },
      nameServers: options.nameServers ?? PAIRS,
      ownership: { activation: "delegation", ...options.ownership },
    });
    const { control, call, account_id: operator } = fixture;
    const [a, b] = [await newAccount(store, clock, "A"), await newAccount(store, clock, "B")];
    const look = async (): Promise<void> => {
      for (let minute = 0; minute < 5; minute++) {
        clock.advance(60_000);
        await control.ownership.lookDue(call());
      }
    };
    const create = async (account: string, name: string, type: Zone["type"] = "full") => {
      const made: Call = call();
      const zone = await control.zones.create(made, { name, type, account: { id: account } });
      return { ...zone, notes: made.notes ?? [] };
    };
    const status = async (id: string): Promise<string> => (await control.zones.get(id)).status;
    await body({ ...fixture, store, parent, clock, operator, a, b, create, look, status });
  } finally {
    await store.close();
    await parent.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function newAccount(store: Store, clock: FixedClock, name: string): Promise<string> {
  const id = newId();
  clock.advance(1);
  await store.write(({ db }) =>
    insertAccount(db, { id, name, type: "standard", settings: "{}", created_on: isoMicros(clock.nowMicros()) }),
  );
  return id;
}
