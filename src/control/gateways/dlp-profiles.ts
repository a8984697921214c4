import { PlatformError } from "#kernel/errors.ts";
import type { DlpProfile } from "#model/dlp.ts";
import { type Profile, PROFILES, PROFILES_BY_ID } from "#rules/detectors/profiles.ts";

/** What policies of data loss prevention choose from; the same in every account. */
export interface DlpProfiles {
  list(): readonly DlpProfile[];
  /** Throws `gateway_not_found` for an id that is none. */
  get(id: string): DlpProfile;
}

export function createDlpProfiles(): DlpProfiles {
  return {
    list: () => PROFILES.map(view),
    get: (id) => {
      const profile = PROFILES_BY_ID.get(id);
      if (profile === undefined) throw new PlatformError("gateway_not_found");
      return view(profile);
    },
  };
}

const view = ({ id, name, description, detectors }: Profile): DlpProfile => ({
  id,
  name,
  description,
  type: "predefined",
  entries: detectors.map((detector) => ({ id: detector.rule_id, name: detector.name, enabled: true, type: "predefined", profile_id: id })),
});
