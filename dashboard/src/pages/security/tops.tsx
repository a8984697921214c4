import { useQuery } from "@tanstack/react-query";
import { graphql } from "../../api/client.ts";
import { count } from "../../parts/time.tsx";
import css from "./tops.module.css";

const QUERY = `query ($zone: string!, $since: Time!) { viewer { zones(filter: { zoneTag: $zone }) {
  action: firewallEventsAdaptiveGroups(limit: 5, filter: { datetime_geq: $since }, orderBy: [count_DESC]) { count dimensions { value: action } }
  path: firewallEventsAdaptiveGroups(limit: 5, filter: { datetime_geq: $since }, orderBy: [count_DESC]) { count dimensions { value: clientRequestPath } }
  client_ip: firewallEventsAdaptiveGroups(limit: 5, filter: { datetime_geq: $since }, orderBy: [count_DESC]) { count dimensions { value: clientIP } }
  country: firewallEventsAdaptiveGroups(limit: 5, filter: { datetime_geq: $since }, orderBy: [count_DESC]) { count dimensions { value: clientCountryName } }
} } }`;

const LISTS = [
  ["action", "Actions"],
  ["path", "Paths"],
  ["client_ip", "Addresses"],
  ["country", "Countries"],
] as const;

interface Group {
  readonly count: number;
  readonly dimensions: { readonly value: string };
}
interface Answer {
  readonly viewer: { readonly zones: readonly Readonly<Record<(typeof LISTS)[number][0], readonly Group[]>>[] };
}

interface TopsProps {
  readonly zoneId: string;
  readonly since: string;
  readonly onPick: (name: string, value: string) => void;
}

/** The most frequent values among the events. A click filters by one. */
export function Tops({ zoneId, since, onPick }: TopsProps) {
  const { data } = useQuery({
    queryKey: ["tops", zoneId, since],
    queryFn: ({ signal }) => graphql<Answer>(QUERY, { zone: zoneId, since }, signal),
    placeholderData: (old) => old,
  });
  const found = data?.viewer.zones[0];
  return (
    <div className={css["tops"]}>
      {LISTS.map(([name, title]) => {
        const groups = found?.[name] ?? [];
        const most = groups[0]?.count ?? 1;
        return (
          <section key={name} aria-label={title}>
            <h2>{title}</h2>
            <ol>
              {groups.map(({ count: of, dimensions: { value } }) => (
                <li key={value}>
                  <button
                    type="button"
                    disabled={value === ""}
                    style={{ backgroundSize: `${(of / most) * 100}% 100%` }}
                    onClick={() => onPick(name, value)}
                  >
                    <span>{value === "" ? "unknown" : value.replaceAll("_", " ")}</span>
                    <b className="num">{count(of)}</b>
                  </button>
                </li>
              ))}
              {groups.length === 0 && <li className={css["none"]}>none</li>}
            </ol>
          </section>
        );
      })}
    </div>
  );
}
