/** Limits of a plan. On a self-hosted server a plan is a set of features, not a price. */
export interface Plan {
  readonly name: "free" | "pro" | "business" | "enterprise";
  /** The identifier that published clients use in `plan.id`. */
  readonly id: string;
  readonly title: string;
  /** Characters of a DNS record's comment (dns.md, "Limits"). */
  readonly comment_length_max: number;
  readonly tags_max: number;
  readonly ttl_seconds_min: number;
  /** Maximum number of changes per batch of DNS records (dns.md, "Limits"). */
  readonly batch_changes_max: number;
}

export type PlanName = Plan["name"];

export const PLANS: Readonly<Record<PlanName, Plan>> = {
  free: {
    name: "free",
    id: "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
    title: "Free Website",
    comment_length_max: 100,
    tags_max: 0,
    ttl_seconds_min: 60,
    batch_changes_max: 200,
  },
  pro: {
    name: "pro",
    id: "a577b510288e82b26486fd1df47000ec",
    title: "Pro Website",
    comment_length_max: 500,
    tags_max: 20,
    ttl_seconds_min: 60,
    batch_changes_max: 3500,
  },
  business: {
    name: "business",
    id: "1ac039f6c29b691475c3d74fe588d1ae",
    title: "Business Website",
    comment_length_max: 500,
    tags_max: 20,
    ttl_seconds_min: 60,
    batch_changes_max: 3500,
  },
  enterprise: {
    name: "enterprise",
    id: "94f3b7b768b0458b56d2cac4fe5ec0f9",
    title: "Enterprise Website",
    comment_length_max: 500,
    tags_max: 20,
    ttl_seconds_min: 30,
    batch_changes_max: 3500,
  },
};

/** Finds a plan by name or identifier. */
export const findPlan = (nameOrId: string): Plan | undefined =>
  Object.values(PLANS).find((plan) => plan.name === nameOrId || plan.id === nameOrId);

/** The plan of a zone's row; an unknown name, which no write can store, counts as free. */
export const planOf = (name: string): Plan => PLANS[name as PlanName] ?? PLANS.free;

/** A zone's `plan` in responses (contract.md §9). */
export const planObject = (plan: Plan) => ({
  id: plan.id,
  name: plan.title,
  price: 0,
  currency: "USD",
  frequency: "",
  is_subscribed: plan.name !== "free",
  can_subscribe: true,
  legacy_id: plan.name,
  legacy_discount: false,
  externally_managed: false,
});
