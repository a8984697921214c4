import { generateKeyPairSync } from "node:crypto";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { DnssecEntry, DnssecKeyEntry, Op } from "#snapshot/entries.ts";
import { SEALER } from "./nameserver.ts";

/** A new key as control writes it into entries. */
export function zoneKey(id: string, { signsZone = true, sealer = SEALER as Pick<Sealer, "seal"> } = {}): DnssecKeyEntry {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from(x as string, "base64url"), Buffer.from(y as string, "base64url")]);
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { id, public_key: point.toString("base64"), private_key: sealer.seal(pem, `dnssec:${id}`), signs_zone: signsZone };
}

export const dnssecOp = (zoneId: string, keys: readonly DnssecKeyEntry[], cds: DnssecEntry["cds"] = []): Op => ({
  kind: "dnssec",
  id: zoneId,
  value: { keys, cds },
});
