import { customDetectors } from "#rules/detectors/engine/custom.ts";
import { wordDetector } from "#rules/detectors/engine/words.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { PROFILES_BY_ID } from "#rules/detectors/catalog/profiles.ts";
import type { DlpProfileEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";

/** Detectors that policies use: those of predefined profiles, and of accounts' own. */
export interface DlpProfiles {
  /** Undefined for a profile that the account does not have. The same list as before unless the profile has changed. */
  detectorsOf(accountId: string, profileId: string): readonly Detector[] | undefined;
  /** Whether the profile is the same in every account. */
  isPredefined(profileId: string): boolean;
}

export function createDlpProfiles(replica: Replica): DlpProfiles {
  const own = new Map<string, { readonly account_id: string; readonly detectors: readonly Detector[] }>();
  followKind(replica, "dlp_profile", {
    clear: () => own.clear(),
    put: (id, entry) => void own.set(id, { account_id: entry.account_id, detectors: compiled(entry) }),
    remove: (id) => void own.delete(id),
  });
  return {
    detectorsOf: (accountId, profileId) => {
      const found = own.get(profileId);
      return found?.account_id === accountId ? found.detectors : PROFILES_BY_ID.get(profileId)?.detectors;
    },
    isPredefined: (profileId) => PROFILES_BY_ID.has(profileId),
  };
}

const compiled = ({ patterns, words = [] }: DlpProfileEntry): readonly Detector[] => [
  ...customDetectors(patterns),
  ...words.map(wordDetector),
];
