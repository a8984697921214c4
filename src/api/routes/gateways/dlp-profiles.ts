import { type Route, route } from "#api/route.ts";
import { DlpProfile, DlpProfileWrite } from "#model/gateways/dlp-profile.ts";

const COLLECTION = "/accounts/:account_id/dlp/profiles";
const OWN = "/accounts/:account_id/dlp/profiles/custom";
const OWN_ITEM = "/accounts/:account_id/dlp/profiles/custom/:profile_id";
const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const reading = { scope: "account", permissions: READ, result: DlpProfile } as const;
const writing = {
  scope: "account",
  permissions: ["AI Gateway Write"],
  invalid_body: "gateway_input_invalid",
  result: DlpProfile,
  paging: "one",
} as const;

/** The profiles of data loss prevention for gateways. */
export const DLP_PROFILE_ROUTES: readonly Route[] = [
  route({
    ...reading,
    method: "GET",
    path: COLLECTION,
    id: "dlp-profiles-list",
    summary: "List data loss prevention profiles",
    paging: "list",
    handler: ({ control, params }) => control.dlpProfiles.list(params.account_id),
  }),
  route({
    ...reading,
    method: "GET",
    path: `${COLLECTION}/:profile_id`,
    id: "dlp-profiles-get",
    summary: "Show a data loss prevention profile",
    paging: "one",
    handler: ({ control, params }) => control.dlpProfiles.get(params.account_id, params.profile_id),
  }),
  route({
    ...writing,
    method: "POST",
    path: OWN,
    id: "dlp-profiles-create",
    summary: "Create a custom profile",
    body: DlpProfileWrite,
    handler: ({ control, call, params, body }) => control.dlpProfiles.create(call, params.account_id, body),
  }),
  route({
    ...reading,
    method: "GET",
    path: OWN_ITEM,
    id: "dlp-profiles-get-own",
    summary: "Show a custom profile",
    paging: "one",
    handler: ({ control, params }) => control.dlpProfiles.getOwn(params.account_id, params.profile_id),
  }),
  route({
    ...writing,
    method: "PUT",
    path: OWN_ITEM,
    id: "dlp-profiles-update",
    summary: "Replace a custom profile",
    body: DlpProfileWrite,
    handler: ({ control, call, params, body }) => control.dlpProfiles.update(call, params.account_id, params.profile_id, body),
  }),
  route({
    ...writing,
    method: "DELETE",
    path: OWN_ITEM,
    id: "dlp-profiles-delete",
    summary: "Delete a custom profile",
    handler: ({ control, call, params }) => control.dlpProfiles.delete(call, params.account_id, params.profile_id),
  }),
];
