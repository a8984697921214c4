import { readFileSync } from "node:fs";
import { createSealer, type Sealer } from "./seal.ts";

/** Keys of one plane of a node that does not have the installation's own key. */
export interface PlaneKeys {
  /** Base64; a sealed value opens with one of them, and the first one seals. */
  readonly open: readonly string[];
  /** Keys for other purposes that all nodes share, by purpose; base64. Others are derived from the first key. */
  readonly derived: Readonly<Record<string, string>>;
}

/** The sealer of a plane's thread: from the installation's own key of 32 bytes, or from the keys of the plane. */
export function readPlaneSealer(path: string): Sealer {
  const bytes = readFileSync(path);
  return bytes.length === 32 ? createSealer(bytes) : planeSealer(JSON.parse(bytes.toString()) as PlaneKeys);
}

export function planeSealer({ open, derived }: PlaneKeys): Sealer {
  const sealers = open.map((key) => createSealer(Buffer.from(key, "base64")));
  const [first] = sealers;
  if (first === undefined) throw new RangeError("a plane needs at least one key");
  return {
    seal: first.seal,
    open: (sealed, context) => {
      for (const sealer of sealers.slice(0, -1)) {
        try {
          return sealer.open(sealed, context);
        } catch {
          // The value is sealed with another key.
        }
      }
      return sealers.at(-1)!.open(sealed, context);
    },
    derive: (purpose) => (derived[purpose] === undefined ? first.derive(purpose) : Buffer.from(derived[purpose], "base64")),
  };
}
