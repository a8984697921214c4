import type { WafMigrationConfig } from "#model/rulesets/waf-migration.ts";
import { useRead } from "../../../api/hooks.ts";
import { Badge } from "../../../parts/page.tsx";
import type { RulesetSummary } from "#model/rulesets/ruleset.ts";
import type { Override, Overrides } from "../overrides.ts";
import css from "./configuration.module.css";

type Rule = WafMigrationConfig["rules"][number];

/** The rules that replace the previous WAF, in their order, in words and with what they change in a ruleset. */
export function Configuration({ zoneId, rules }: { readonly zoneId: string; readonly rules: readonly Rule[] }) {
  const rulesets = useRead<RulesetSummary[]>(`/zones/${zoneId}/rulesets`);
  const nameOf = (id: unknown): string => rulesets.data?.result.find((one) => one.id === id)?.name ?? String(id);
  return (
    <ol className={css["rules"]} aria-label="Rules of the configuration">
      {rules.map(({ description, expression, action, action_parameters: parameters }, at) => (
        <li key={`${at} ${description}`}>
          <div>
            <b>{action === "execute" ? `Run ${nameOf(parameters?.["id"])}` : description || action}</b> <Badge>{action}</Badge>
          </div>
          <p>
            {expression === "true" ? (
              "For all requests."
            ) : (
              <>
                For requests with <code>{expression}</code>
              </>
            )}
          </p>
          {changesOf((parameters?.["overrides"] ?? {}) as Overrides).map((change) => (
            <p key={change}>{change}</p>
          ))}
          {action !== "execute" && parameters !== undefined && <code>{JSON.stringify(parameters)}</code>}
        </li>
      ))}
    </ol>
  );
}

function changesOf({ rules = [], categories = [], ...all }: Overrides): readonly string[] {
  const lines = [
    ["All rules", all],
    ...categories.map(({ category, ...change }) => [`Rules tagged ${String(category)}`, change] as const),
    ...rules.map(({ id, ...change }) => [`Rule ${String(id)}`, change] as const),
  ] as const satisfies readonly (readonly [string, Override])[];
  return lines.flatMap(([name, change]) => {
    const words = Object.entries(change).map(([key, value]) => wordsOf(key, value));
    return words.length === 0 ? [] : [`${name}: ${words.join(", ")}`];
  });
}

const wordsOf = (key: string, value: unknown): string =>
  key === "enabled" ? (value === true ? "on" : "off") : `${key.replaceAll("_", " ")} ${String(value).replaceAll("_", " ")}`;
