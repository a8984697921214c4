import type { Sealer } from "#kernel/crypto/seal.ts";
import { createTsigKey, type TsigKey } from "#wire/dns/tsig.ts";
import type { TsigEntry } from "./entries.ts";

/** The key as messages are signed with it; undefined where it cannot be opened, so that its neighbours go on. */
export function openTsigKey({ id, name, algorithm, secret }: TsigEntry, sealer: Sealer): TsigKey | undefined {
  try {
    return createTsigKey(name, algorithm, Buffer.from(sealer.open(secret, `tsig:${id}`).toString(), "base64"));
  } catch {
    return undefined;
  }
}
