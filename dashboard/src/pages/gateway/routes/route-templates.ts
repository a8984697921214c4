import type { GatewayRoute } from "#model/gateways/gateway-route.ts";

export type RouteElement = GatewayRoute["elements"][number];

interface Template {
  readonly id: string;
  readonly title: string;
  readonly elements: readonly RouteElement[];
}

const to = (elementId: string): { readonly elementId: string } => ({ elementId });
const start: RouteElement = { id: "start", type: "start", outputs: { next: to("first") } };
const end: RouteElement = { id: "end", type: "end" };
const model = (id: string, provider: string, name: string, fallback = "end"): RouteElement => ({
  id,
  type: "model",
  properties: { provider, model: name, retries: 1, timeout: 30_000 },
  outputs: { success: to("end"), fallback: to(fallback) },
});
const LARGE = ["openai", "gpt-4o"] as const;
const SMALL = ["openai", "gpt-4o-mini"] as const;
const OTHER = ["anthropic", "claude-sonnet-4-5"] as const;

/** Starting points: each is a valid route as it stands. */
export const TEMPLATES: readonly Template[] = [
  {
    id: "fallback",
    title: "Another model if the first fails",
    elements: [start, model("first", ...LARGE, "second"), model("second", ...OTHER), end],
  },
  {
    id: "condition",
    title: "A model by the request's metadata",
    elements: [
      start,
      {
        id: "first",
        type: "conditional",
        properties: { condition: { "metadata.plan": { $eq: "free" } } },
        outputs: { true: to("small"), false: to("large") },
      },
      model("small", ...SMALL),
      model("large", ...LARGE),
      end,
    ],
  },
  {
    id: "shares",
    title: "Shares of the requests",
    elements: [
      start,
      { id: "first", type: "percentage", outputs: { "10%": to("new"), else: to("old") } },
      model("new", ...OTHER, "old"),
      model("old", ...LARGE),
      end,
    ],
  },
  {
    id: "budget",
    title: "A small model above a daily cost per user",
    elements: [
      start,
      {
        id: "first",
        type: "rate",
        properties: { limit: 5, limitType: "cost", window: 86_400, key: "metadata.user" },
        outputs: { success: to("large"), fallback: to("small") },
      },
      model("large", ...LARGE, "small"),
      model("small", ...SMALL),
      end,
    ],
  },
];
