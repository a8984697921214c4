import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { Tone } from "../../parts/page.tsx";

/** Whether the first reason is the zone's own: no customer can mend it. */
const waitsForZone = ([first = ""]: readonly string[]): boolean => first.includes("fallback origin");

/** Both statuses of a hostname as one sentence. */
export function sentenceOf({ status, ssl, verification_errors = [] }: CustomHostname): { readonly text: string; readonly tone: Tone } {
  if (status === "caa_error") return { text: "Its CAA records keep the certificate from being issued.", tone: "bad" };
  if (status === "moved") return { text: "It points elsewhere now.", tone: "bad" };
  if (status === "blocked") return { text: "Its name is held by another zone.", tone: "bad" };
  if (status !== "active")
    return {
      text: waitsForZone(verification_errors)
        ? "Waiting for a fallback origin of this zone."
        : "Waiting for the customer's CNAME or TXT record.",
      tone: "warn",
    };
  if (ssl === undefined) return { text: "Active, without its own certificate.", tone: "good" };
  if (ssl.status === "active") return { text: "Active, with its certificate.", tone: "good" };
  return { text: `Reached already; the certificate is ${ssl.status.replaceAll("_", " ")}.`, tone: "warn" };
}
