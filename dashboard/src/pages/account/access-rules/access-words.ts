import type { AccessRule } from "#model/rulesets/access-rule.ts";
import type { Tone } from "../../../parts/page.tsx";

export type Mode = AccessRule["mode"];
export type Target = AccessRule["configuration"]["target"];

export const MODES: Readonly<Record<Mode, { readonly title: string; readonly tone: Tone }>> = {
  whitelist: { title: "admit", tone: "good" },
  block: { title: "block", tone: "bad" },
  managed_challenge: { title: "managed challenge", tone: "warn" },
  js_challenge: { title: "script challenge", tone: "warn" },
  challenge: { title: "challenge", tone: "warn" },
};

export const TARGETS: Readonly<Record<Target, string>> = {
  ip: "IPv4 address",
  ip6: "IPv6 address",
  ip_range: "network",
  asn: "autonomous system",
  country: "country",
};

/** `AS64496`, `DE`, `192.0.2.0/24`, `2001:db8::1` or `192.0.2.1`: the API says if it is none of them. */
export const targetOf = (value: string): Target =>
  /^as\d+$/i.test(value)
    ? "asn"
    : /^[a-z]{2}$/i.test(value) || /^t1$/i.test(value)
      ? "country"
      : value.includes("/")
        ? "ip_range"
        : value.includes(":")
          ? "ip6"
          : "ip";
