import { groupsNode, type Scope, useGroups } from "../../api/analytics.ts";
import type { TimeRange } from "../../api/time-range.ts";
import { Card, Failed } from "../../parts/page.tsx";
import { countryName } from "../../api/countries.ts";
import { count } from "../../parts/time.tsx";
import css from "./tops.module.css";

interface TopsProps {
  readonly scope: Scope;
  readonly range: TimeRange;
  readonly node: "firewallEventsAdaptiveGroups" | "httpRequestsAdaptiveGroups";
  /** Joined with the range. */
  readonly filter?: object;
  /** The name that a pick has, a title, and the dimension. */
  readonly lists: readonly (readonly [string, string, string])[];
  readonly onPick: (name: string, value: string) => void;
}

const SHOWN_MAX = 5;

/** Rules without a name differ by their identifier, whose first digits do. */
export const unnamedRule = (id: string): string => `Unnamed rule ${id.slice(0, 6)}`;

/** The most frequent values. A click filters by one. */
export function Tops({ scope, range, node, filter = {}, lists, onPick }: TopsProps) {
  const nodes = Object.fromEntries(
    lists.map(([name, , dimension]) => [
      name,
      groupsNode(node, range, `count dimensions { value: ${dimension} ${dimension === "ruleId" ? "label: description" : ""} }`, {
        filter,
        order: "count_DESC",
        limit: SHOWN_MAX,
      }),
    ]),
  );
  const { data, error } = useGroups<string, { readonly value: string | number; readonly label?: string }>(scope, nodes);
  if (error && !data)
    return (
      <Card>
        <Failed error={error} />
      </Card>
    );
  return (
    <div className={css["tops"]}>
      {lists.map(([name, title]) => {
        const groups = data?.[name] ?? [];
        const most = groups[0]?.count ?? 1;
        return (
          <section key={name} aria-label={title}>
            <h2>{title}</h2>
            <ol>
              {groups.map(({ count: of, dimensions: { value, label } }) => {
                const shown =
                  (name === "country" && value !== "" && countryName(String(value))) ||
                  label ||
                  (label === undefined ? String(value) : value && unnamedRule(String(value))) ||
                  "unknown";
                return (
                  <li key={`${value} ${label}`}>
                    <button
                      type="button"
                      disabled={value === ""}
                      title={shown}
                      style={{ backgroundSize: `${(of / most) * 100}% 100%` }}
                      onClick={() => onPick(name, String(value))}
                    >
                      <span>{shown}</span>
                      <b className="num">{count(of)}</b>
                    </button>
                  </li>
                );
              })}
              {groups.length === 0 && <li className={css["none"]}>{data ? "none" : "…"}</li>}
            </ol>
          </section>
        );
      })}
    </div>
  );
}
