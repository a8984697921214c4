import type { PlaneNode } from "#model/access/node.ts";
import type { Tone } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";

/** A node's health as a badge says it, with the reasons below. */
export function healthOf({ status, problems, refused }: PlaneNode): {
  readonly word: string;
  readonly tone: Tone;
  readonly reasons: readonly string[];
} {
  if (status === "waiting") return { word: "waiting", tone: "plain", reasons: ["Its join token has not been used."] };
  const reasons = [...problems, ...(refused === null ? [] : [`Refused change ${refused.rev}: ${refused.reason}`])];
  if (status === "away") return { word: "away", tone: "bad", reasons: ["Nothing was heard of it for five seconds.", ...reasons] };
  return reasons.length === 0 ? { word: "serves", tone: "good", reasons } : { word: "impaired", tone: "warn", reasons };
}

/** How far it has followed the changes. */
export function lagOf({ behind, status }: PlaneNode): { readonly text: string; readonly tone: Tone } {
  if (behind === null || status === "waiting") return { text: "no changes yet", tone: "plain" };
  return behind === 0 ? { text: "up to date", tone: "plain" } : { text: `${count(behind)} behind`, tone: "warn" };
}
