import { createPrivateKey, createPublicKey } from "node:crypto";
import type { FeedLog } from "#snapshot/feed.ts";
import type { DnssecEntry, DnssecKeyEntry } from "#snapshot/entries.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { dnskeyRdata, keyTag } from "#wire/dns/dnssec-key.ts";
import type { DnsName } from "#wire/dns/name.ts";
import type { SigningKey } from "#wire/dns/rrsig.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** The keys of one zone, ready to sign. */
export interface ZoneKeys {
  /** Each of them signs every set of the zone. */
  readonly zone: readonly SigningKey[];
  /** Each of them signs the DNSKEY set, so that the parent may refer to any of them (RFC 4035 §2.2). */
  readonly all: readonly SigningKey[];
}

export interface Keyring {
  /**
   * Undefined if the zone should be signed but cannot be: a key cannot be decrypted or does not match the published one,
   * or the zone has no key to sign with. One bad key is enough, because the parent may refer to it.
   */
  keysOf(zone: ZoneIndex): ZoneKeys | undefined;
}

export interface KeyringDeps {
  readonly sealer: Sealer;
  readonly metrics: MetricRegistry;
  readonly log: FeedLog;
}

/** Opens the keys of each entry once. */
export function createKeyring({ sealer, metrics, log }: KeyringDeps): Keyring {
  const opened = new WeakMap<DnssecEntry, ZoneKeys | "unusable">();
  const failures = metrics.counter("selvedge_dns_unusable_keys_total", "Zones left unsigned because their keys could not be decrypted");

  const open = (signer: DnsName, entry: DnssecKeyEntry): SigningKey => {
    const privateKey = createPrivateKey(sealer.open(entry.private_key, `dnssec:${entry.id}`).toString("utf8"));
    const { crv, x, y } = createPublicKey(privateKey).export({ format: "jwk" });
    const point = Buffer.concat([Buffer.from(x ?? "", "base64url"), Buffer.from(y ?? "", "base64url")]);
    if (crv !== "P-256" || point.toString("base64") !== entry.public_key) throw new Error("the private key is not that of the public key");
    return { signer, tag: keyTag(dnskeyRdata(point)), privateKey };
  };

  const openAll = ({ id, entry, name }: ZoneIndex, { keys }: DnssecEntry): ZoneKeys | "unusable" => {
    try {
      const all = keys.map((key) => open(name, key));
      const zone = all.filter((_, i) => keys[i]?.signs_zone === true);
      if (zone.length === 0) throw new Error("no key signs the zone");
      return { zone, all };
    } catch (error) {
      failures.value += 1;
      // Omits the cryptographic details, which could reveal something about the key.
      const reason = error instanceof Error ? error.message : String(error);
      log("error", "a zone's signing keys are unusable; validating resolvers cannot resolve the zone", {
        zone: entry.name,
        zone_id: id,
        reason,
      });
      return "unusable";
    }
  };

  return {
    keysOf: (zone) => {
      if (zone.dnssec === undefined) return undefined;
      let keys = opened.get(zone.dnssec);
      if (keys === undefined) {
        keys = openAll(zone, zone.dnssec);
        opened.set(zone.dnssec, keys);
      }
      return keys === "unusable" ? undefined : keys;
    },
  };
}
