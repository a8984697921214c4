/** The changes that a deployment makes to a managed rule, or to a group of them. */
export interface Override {
  readonly action?: string;
  readonly enabled?: boolean;
  readonly [more: string]: unknown;
}

type Kind = "rules" | "categories";
const KEYS = { rules: "id", categories: "category" } as const satisfies Readonly<Record<Kind, string>>;

export interface Overrides extends Override {
  readonly rules?: readonly Override[];
  readonly categories?: readonly Override[];
}

/** Empty where there is none. Of several for one name the last one counts. */
export const overrideFor = (overrides: Overrides, kind: Kind, name: string): Override =>
  overrides[kind]?.findLast((one) => one[KEYS[kind]] === name) ?? {};

/** Members besides action and enabled stay, as thresholds and sensitivities do. */
export function withOverride(overrides: Overrides, kind: Kind, name: string, change: Override | undefined): Overrides {
  const { action: _action, enabled: _enabled, ...kept } = overrideFor(overrides, kind, name);
  const others = (overrides[kind] ?? []).filter((one) => one[KEYS[kind]] !== name);
  const next = { ...kept, [KEYS[kind]]: name, ...change };
  const isEmpty = Object.keys(next).length === 1;
  const { [kind]: _old, ...rest } = overrides;
  const rows = isEmpty ? others : [...others, next];
  return rows.length === 0 ? rest : { ...rest, [kind]: rows };
}

export const changed = (override: Override): boolean => Object.keys(override).length > 0;

export interface OverrideChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

interface Named {
  readonly rules: readonly { readonly id: string; readonly description: string }[];
}

/** By the names that people know the rules by. */
export function changesBetween(before: Overrides, after: Overrides, { rules }: Named): readonly OverrideChange[] {
  return (["categories", "rules"] as const).flatMap((kind) => {
    const names = new Set([...(before[kind] ?? []), ...(after[kind] ?? [])].map((one) => String(one[KEYS[kind]])));
    return [...names].flatMap((name) => {
      const [old, now] = [wordsOf(overrideFor(before, kind, name)), wordsOf(overrideFor(after, kind, name))];
      const shown = kind === "categories" ? `group ${name}` : rules.find(({ id }) => id === name)?.description || name;
      return old === now ? [] : [{ name: shown, before: old, after: now }];
    });
  });
}

const wordsOf = ({ action, enabled }: Override): string => (enabled === false ? "off" : (action ?? (enabled === true ? "on" : "default")));
