import { LargeMap } from "#kernel/large-map.ts";
import type { NameKey } from "#wire/dns/name.ts";

/** Names that certificates cover, including wildcards. */
export interface CertifiedNames {
  has(name: NameKey): boolean;
  readonly isEmpty: boolean;
  /** Replaces the names of the certificate; the cost depends on its own names only. */
  put(certificateId: string, names: readonly NameKey[]): void;
  remove(certificateId: string): void;
}

export function createCertifiedNames(): CertifiedNames {
  const byCertificate = new LargeMap<readonly NameKey[]>();
  /** Number of certificates per name: both the old and the new one during a renewal. */
  const counts = new LargeMap<number>();
  const remove = (id: string): void => {
    for (const name of byCertificate.get(id) ?? []) {
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    }
    byCertificate.delete(id);
  };
  return {
    has: (name) => counts.has(name),
    get isEmpty() {
      return byCertificate.size === 0;
    },
    put: (id, names) => {
      remove(id);
      byCertificate.set(id, names);
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    remove,
  };
}
