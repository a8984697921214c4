import type { Sealer } from "#kernel/crypto/seal.ts";
import { createTsigKey, type TsigKey } from "#wire/dns/tsig.ts";
import type { TsigEntry } from "./entries.ts";

/** The key for signing messages; undefined if it cannot be opened, so that other keys still work. */
export function openTsigKey({ id, name, algorithm, secret }: TsigEntry, sealer: Sealer): TsigKey | undefined {
  try {
    return createTsigKey(name, algorithm, Buffer.from(sealer.open(secret, `tsig:${id}`).toString(), "base64"));
  } catch {
    return undefined;
  }
}
