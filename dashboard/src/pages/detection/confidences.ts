import type { Tone } from "../../parts/page.tsx";

/** The colour of a finding, by how certain it is. */
export const CONFIDENCES: Readonly<Record<"low" | "medium" | "high", Tone>> = { low: "plain", medium: "warn", high: "bad" };
