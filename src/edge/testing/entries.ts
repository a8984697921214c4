import type { Op, RuleEntry, RulesetEntry, ZoneEntry } from "#snapshot/entries.ts";

/** Snapshot entries for tests, with defaults for everything that a test does not name. */
export const zoneOp = (id: string, name: string, more: Partial<ZoneEntry> = {}): Op => ({
  kind: "zone",
  id,
  value: {
    id,
    account_id: "account",
    name,
    status: "active",
    paused: false,
    type: "full",
    plan: "free",
    name_servers: [],
    soa: { mname: "ns.example.", rname: "dns.example.", refresh: 10_000, retry: 2400, expire: 604_800, ttl: 3600, min_ttl: 1800 },
    ns_ttl: 86_400,
    ...more,
  },
});

export const recordOp = (id: string, zoneId: string, name: string, type: string, content: string, proxied = true): Op => ({
  kind: "record",
  id,
  value: { zone_id: zoneId, name, type, ttl: 300, content, rdata: "", proxied },
});

type Rule = Partial<RuleEntry> & Pick<RuleEntry, "action" | "expression">;

export const rulesetOp = (id: string, level: RulesetEntry["level"], ownerId: string, phase: string, rules: readonly Rule[]): Op => ({
  kind: "ruleset",
  id,
  value: {
    level,
    owner_id: ownerId,
    kind: level === "zone" ? "zone" : "root",
    phase,
    name: phase,
    version: "1",
    rules: rules.map((rule, index) => ({
      id: `${id}-${index + 1}`,
      ref: "",
      version: "1",
      action_parameters: {},
      description: "",
      enabled: true,
      ...rule,
    })),
  },
});
