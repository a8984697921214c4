import type { NameKey } from "#wire/dns/name.ts";

/** Names that certificates cover, wildcards as such. */
export interface CertifiedNames {
  has(name: NameKey): boolean;
  readonly isEmpty: boolean;
  /** Takes the place of what the certificate had; work is in its own names, however many others there are. */
  put(certificateId: string, names: readonly NameKey[]): void;
  remove(certificateId: string): void;
}

export function createCertifiedNames(): CertifiedNames {
  const byCertificate = new Map<string, readonly NameKey[]>();
  /** How many certificates have the name: the old and the new one while one takes over from the other. */
  const counts = new Map<NameKey, number>();
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
