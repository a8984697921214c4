import type { AccountStore, StoredAccount } from "#acme/accounts.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { putSecret, secretValue } from "#store/database/secrets.ts";
import type { Store } from "#store/database/store.ts";

/** Stores ACME accounts, sealed, with the installation's secrets. */
export function createAccountStore(deps: { readonly store: Store; readonly clock: Clock; readonly sealer: Sealer }): AccountStore {
  const { store, clock, sealer } = deps;
  const nameOf = (id: string): string => `acme-account ${id}`;
  const load = async (db: Store["read"], id: string): Promise<StoredAccount | null> => {
    const value = await secretValue(db, nameOf(id));
    return value === null ? null : (JSON.parse(sealer.open(value, `secret:${nameOf(id)}`).toString("utf8")) as StoredAccount);
  };
  const put = (db: Store["read"], id: string, account: StoredAccount): Promise<void> =>
    putSecret(db, {
      name: nameOf(id),
      value: sealer.seal(JSON.stringify(account), `secret:${nameOf(id)}`),
      created_on: isoMicros(clock.nowMicros()),
    });
  return {
    load: (id) => load(store.read, id),
    create: async (id, account) => {
      const { result } = await store.write(async ({ db }) => {
        // Another node may have created it first.
        const present = await load(db, id);
        if (present === null) await put(db, id, account);
        return present ?? account;
      });
      return result;
    },
    setUrl: async (id, url) => {
      await store.write(async ({ db }) => {
        const present = await load(db, id);
        if (present !== null) await put(db, id, { ...present, url });
      });
    },
  };
}
