import { Link } from "@tanstack/react-router";
import type { Zone } from "#model/zones/zone.ts";
import { type Group, groupsNode, useGroups } from "../../../api/analytics.ts";
import { nowMs } from "../../../api/now.ts";
import { rangeOf } from "../../../api/time-range.ts";
import { List } from "../../../parts/list.tsx";
import { count } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";

const DAY_MS = 86_400_000;

interface Difference {
  readonly ruleId: string;
  readonly source: string;
  readonly description: string;
  readonly action: string;
}

const VERSIONS = [
  {
    isPrevious: false,
    title: "Managed rules acted",
    hint: "Open a rule to look for visitors that it should not have stopped.",
    label: "Events of managed rules",
    none: "They acted on no request.",
  },
  {
    isPrevious: true,
    title: "Only the previous version acted",
    hint: "Managed rules saw these requests first and let them pass.",
    label: "Events of the previous version",
    none: "It acted on no request that managed rules let pass.",
  },
] as const;

/** Actions of both WAFs in the last day (SPEC 8). Managed rules run first, so the previous WAF acts only on requests that they let pass. */
export function Differences({ zone }: { readonly zone: Zone }) {
  const until = nowMs();
  const range = rangeOf(until - DAY_MS, until, "24h");
  const { data } = useGroups<"events", Difference>(
    { kind: "zones", id: zone.id },
    {
      events: groupsNode("firewallEventsAdaptiveGroups", range, "count dimensions { ruleId source description action }", {
        filter: { phase: "http_request_firewall_managed" },
        order: "count_DESC",
        limit: 50,
      }),
    },
  );
  const of = (isPrevious: boolean) =>
    (data?.events ?? []).filter(({ dimensions }) => dimensions.source.includes("previous") === isPrevious);
  return (
    <div className={tools["two"]}>
      {VERSIONS.map(({ isPrevious, title, hint, label, none }) => (
        <div key={label} className={tools["stack"]}>
          <h3 className={tools["label"]}>{title} in the last 24 hours</h3>
          {of(isPrevious).length === 0 ? (
            <p className={tools["quiet"]}>{none}</p>
          ) : (
            <>
              <p className={tools["hint"]}>{hint}</p>
              <List<Group<Difference>>
                label={label}
                rows={of(isPrevious)}
                keyOf={({ dimensions }) => `${dimensions.ruleId} ${dimensions.action}`}
                columns={[
                  {
                    head: "Rule",
                    width: "auto",
                    cell: ({ dimensions: { ruleId, description } }) => (
                      <Link
                        className={tools["link"]}
                        to="/zones/$zone/security/events"
                        params={{ zone: zone.name }}
                        search={{ rule_id: ruleId, time: "24h" } as never}
                      >
                        {description || "without a name"}
                      </Link>
                    ),
                  },
                  { head: "Action", width: "90px", cell: ({ dimensions }) => dimensions.action.replaceAll("_", " ") },
                  { head: "Requests", width: "80px", isFigure: true, cell: (group) => count(group.count) },
                ]}
              />
            </>
          )}
        </div>
      ))}
    </div>
  );
}
