import { randomBytes } from "node:crypto";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ImageKeys } from "#model/images/image-variant.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { deleteImageKey, imageKeysOfAccount, insertImageKey } from "#store/images/image-variants.ts";

/** Keys that sign URLs of an account's images. Each of them counts. */
export interface ImageSigningKeys {
  list(accountId: string): Promise<ImageKeys>;
  /** Throws `image_exists` or `image_quota`. */
  create(call: Call, accountId: string, name: string): Promise<ImageKeys>;
  /** URLs that it signed end at once. */
  remove(call: Call, accountId: string, name: string): Promise<ImageKeys>;
}

const PER_ACCOUNT_MAX = 10;
const KEY_BYTES = 32;
const contextOf = (accountId: string, name: string): string => `image_keys ${accountId} ${name}`;

export function createImageSigningKeys({ store, sealer }: { readonly store: Store; readonly sealer: Sealer }): ImageSigningKeys {
  const audit = (unit: Unit, call: Call, verb: string, accountId: string, name: string): void =>
    unit.audit({
      ...{ action: `image_key.${verb}`, actor: auditActor(call), account_id: accountId, zone_id: null },
      resource: { type: "image_key", id: name },
    });
  const list = async (accountId: string): Promise<ImageKeys> => ({
    keys: (await imageKeysOfAccount(store.read, accountId)).map(({ name, value }) => ({
      name,
      value: sealer.open(value, contextOf(accountId, name)).toString("utf8"),
    })),
  });

  return {
    list,
    create: async (call, accountId, name) => {
      await commit({ store }, call, async (unit) => {
        const rows = await imageKeysOfAccount(unit.db, accountId);
        if (rows.some((row) => row.name === name)) throw new PlatformError("image_exists");
        if (rows.length >= PER_ACCOUNT_MAX)
          throw new PlatformError("image_quota", { message: `An account can have ${PER_ACCOUNT_MAX} signing keys.` });
        const value = sealer.seal(randomBytes(KEY_BYTES).toString("base64url"), contextOf(accountId, name));
        await insertImageKey(unit.db, { account_id: accountId, name, value });
        audit(unit, call, "create", accountId, name);
      });
      return list(accountId);
    },
    remove: async (call, accountId, name) => {
      await commit({ store }, call, async (unit) => {
        const rows = await imageKeysOfAccount(unit.db, accountId);
        if (!rows.some((row) => row.name === name)) throw new PlatformError("image_key_not_found");
        await deleteImageKey(unit.db, accountId, name);
        audit(unit, call, "delete", accountId, name);
      });
      return list(accountId);
    },
  };
}
