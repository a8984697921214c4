import { join } from "node:path";
import type { PlaneRole } from "#app/config/roles.ts";

/** Files of threads on disk. */
export interface PlaneFiles {
  readonly sealKey: string;
  /** The keys of a plane, on a node that does not have `sealKey`. */
  keysOf?(plane: PlaneRole): string;
  /** Distinguishes this node from others on the same database. */
  readonly nodeId: string;
  readonly localRoot: string;
  readonly lastGood: string;
  readonly events: string;
  readonly spendJournal: string;
  /** Directory of the OWASP Core Rule Set that the operator has installed, and the file of the last compiled one. */
  readonly coreRules: string;
  readonly lastCoreRules: string;
  /** Directory of the files of images. */
  readonly images: string;
  /** Directory with a subdirectory for each edge thread. */
  readonly cache: string;
}

export const planeFiles = (dataDir: string): PlaneFiles => ({
  sealKey: join(dataDir, "seal.key"),
  nodeId: join(dataDir, "node-id"),
  localRoot: join(dataDir, "ca.pem"),
  lastGood: join(dataDir, "snapshot.last-good"),
  events: join(dataDir, "events.db"),
  spendJournal: join(dataDir, "gateway", "spend.journal"),
  coreRules: join(dataDir, "crs"),
  lastCoreRules: join(dataDir, "crs.last-good"),
  images: join(dataDir, "images"),
  cache: join(dataDir, "cache"),
});
