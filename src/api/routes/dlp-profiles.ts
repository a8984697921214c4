import { type Route, route } from "#api/route.ts";
import { DlpProfile } from "#model/dlp.ts";

const COLLECTION = "/accounts/:account_id/dlp/profiles";
const READ = ["AI Gateway Read", "AI Gateway Write"] as const;

export const DLP_PROFILE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: COLLECTION,
    id: "dlp-profiles-list",
    summary: "List what data loss prevention can look for",
    scope: "account",
    permissions: READ,
    result: DlpProfile,
    paging: "list",
    handler: async ({ control }) => control.dlpProfiles.list(),
  }),
  route({
    method: "GET",
    path: `${COLLECTION}/:profile_id`,
    id: "dlp-profiles-get",
    summary: "Show what one profile looks for",
    scope: "account",
    permissions: READ,
    result: DlpProfile,
    paging: "one",
    handler: async ({ control, params }) => control.dlpProfiles.get(params.profile_id),
  }),
];
