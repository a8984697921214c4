import { type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { BillingEntry, BillingProfile } from "#model/access/billing.ts";

const NOTHING_OWED = { account_type: "self_hosted", balance: "0", card_number: null, next_bill_date: null } as const;

/** SPEC 9, 2023-06-06. Nothing costs money here, and the answers say so. */
export const BILLING_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/user/billing/profile",
    id: "user-billing-profile-get",
    summary: "Show the calling user's billing profile",
    scope: "user",
    permissions: ["User Details Read", "User Details Write"],
    result: BillingProfile,
    paging: "one",
    handler: async ({ control, call }) => {
      const { id, first_name, last_name, email, created_on } = await control.access.users.get(call);
      return { id, ...NOTHING_OWED, first_name, last_name, company: null, primary_email: email, created_on };
    },
  }),
  route({
    method: "GET",
    path: "/user/billing/history",
    id: "user-billing-history-list",
    summary: "List the calling user's charges",
    scope: "user",
    permissions: ["User Details Read", "User Details Write"],
    result: BillingEntry,
    paging: "page",
    per_page: { default: 20, max: 50 },
    handler: async ({ page }) => ({ items: [], ...page, total_count: 0 }),
  }),
  route({
    method: "GET",
    path: "/accounts/:account_id/billing/profile",
    id: "account-billing-profile-get",
    summary: "Show an account's billing profile",
    scope: "account",
    permissions: ["Account Settings Read", "Account Settings Write"],
    result: BillingProfile,
    paging: "one",
    handler: async ({ control, resolved }) => {
      if (resolved.account === null) throw new PlatformError("unauthorized_resource");
      const { id, name, created_on } = await control.access.accounts.get(resolved.account.id);
      return { id, ...NOTHING_OWED, first_name: null, last_name: null, company: name, primary_email: null, created_on };
    },
  }),
];
