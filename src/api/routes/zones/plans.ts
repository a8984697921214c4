import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ZONE_READING_GROUPS } from "#model/access/permission-groups.ts";
import { findPlan, type Plan, planObject, PLANS } from "#model/zones/plan.ts";

const AvailablePlan = Type.Object({
  id: Type.String(),
  name: Type.String(),
  price: Type.Number(),
  currency: Type.String(),
  frequency: Type.String(),
  is_subscribed: Type.Boolean({ description: "Whether it is the zone's plan." }),
  can_subscribe: Type.Boolean(),
  legacy_id: Type.String(),
  externally_managed: Type.Boolean(),
});

const RatePlan = Type.Object({
  id: Type.String(),
  name: Type.String(),
  currency: Type.String(),
  duration: Type.Integer(),
  frequency: Type.String(),
  components: Type.Array(Type.Object({ name: Type.String(), default: Type.Integer(), unit_price: Type.Number() })),
});

/** Plans of this server cost nothing, and a period needs a name. */
const FREQUENCY = "monthly";

function availablePlan(plan: Plan, zone: { readonly plan: string }) {
  const { legacy_discount: _, ...shown } = planObject(plan);
  return { ...shown, frequency: FREQUENCY, is_subscribed: plan.name === zone.plan };
}

const read = { method: "GET", scope: "zone", permissions: ZONE_READING_GROUPS } as const;
const AVAILABLE = "/zones/:zone_id/available_plans";

export const PLAN_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: AVAILABLE,
    id: "available-plans-list",
    summary: "List the plans that a zone can have",
    result: AvailablePlan,
    paging: "list",
    handler: async ({ resolved }) => Object.values(PLANS).map((plan) => availablePlan(plan, zoneOf(resolved))),
  }),
  route({
    ...read,
    path: `${AVAILABLE}/:plan_id`,
    id: "available-plans-get",
    summary: "Show a plan that a zone can have",
    result: AvailablePlan,
    paging: "one",
    handler: async ({ resolved, params }) => {
      const plan = findPlan(params.plan_id);
      if (plan === undefined) throw new PlatformError("not_found");
      return availablePlan(plan, zoneOf(resolved));
    },
  }),
  route({
    ...read,
    path: "/zones/:zone_id/available_rate_plans",
    id: "available-rate-plans-list",
    summary: "List the prices of the plans that a zone can have, all of which are 0",
    result: RatePlan,
    paging: "list",
    handler: async () =>
      Object.values(PLANS).map(({ name, title }) => ({
        id: name,
        name: title,
        currency: "USD",
        duration: 1,
        frequency: FREQUENCY,
        components: [{ name: "zones", default: 1, unit_price: 0 }],
      })),
  }),
];
