import type { OwnPattern } from "#rules/parameters/rule-context.ts";
import { isObject } from "#rules/parameters/shape.ts";

export const OWN_CATEGORY = "custom";

/**
 * Switches of patterns that are not the ruleset's own: `+` or `-`, then `*` for all, `#` before a tag or `=` before an
 * id, separated by commas; later ones win. A text, because it accompanies every response that is scanned.
 */
export function packSwitches(overrides: unknown, managed: ReadonlySet<string>): string {
  if (!isObject(overrides)) return "";
  const entries = (key: string, name: string, mark: string): string[] => {
    const all: unknown = overrides[key];
    return (Array.isArray(all) ? all : []).flatMap((entry: unknown) => {
      if (!isObject(entry) || typeof entry["enabled"] !== "boolean") return [];
      const target = String(entry[name]);
      return managed.has(target) ? [] : [`${entry["enabled"] ? "+" : "-"}${mark}${target}`];
    });
  };
  const all = typeof overrides["enabled"] === "boolean" ? [overrides["enabled"] ? "+*" : "-*"] : [];
  return [...all, ...entries("categories", "category", "#"), ...entries("rules", "id", "=")].join(",");
}

/** The same with these rules off, whatever overrides say, because exceptions beat overrides (waf.md). */
export const withoutOwn = (switches: string, ids: readonly string[], managed: ReadonlySet<string>): string =>
  [switches, ...ids.filter((id) => !managed.has(id)).map((id) => `-=${id}`)].filter((text) => text !== "").join(",");

export function isSwitchedOn(switches: string, { id, tags, enabled = true }: OwnPattern): boolean {
  if (switches === "") return enabled;
  const targets = new Set(["*", `=${id}`, `#${OWN_CATEGORY}`, ...tags.map((tag) => `#${tag}`)]);
  const last = switches.split(",").findLast((one) => targets.has(one.slice(1)));
  return last === undefined ? enabled : last.startsWith("+");
}
