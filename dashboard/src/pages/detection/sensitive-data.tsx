import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { SensitiveDataValues } from "#model/events/security-event.ts";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { useTimeRange } from "../../api/time-range.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import { TimePicker } from "../../parts/time-picker.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { sinceUntil } from "../traffic/since-until.ts";
import { AllowedDataCard } from "./allowed-data.tsx";
import { CONFIDENCES } from "./confidences.ts";
import { ScanText } from "./scan-text.tsx";

export const SensitiveDataPage = () => <ZoneGate>{(zone) => <SensitiveDataOf zone={zone} />}</ZoneGate>;

/** Of the managed rules that look for sensitive data. */
const RULESET = "e22d83c647c64a3eae91b71b499d988e";

type Value = SensitiveDataValues["values"][number];

/** Which sensitive values the zone's responses contain, a text to try, and what detection leaves out. */
function SensitiveDataOf({ zone }: { readonly zone: Zone }) {
  const range = useTimeRange();
  const query = new URLSearchParams(sinceUntil(range).map((pair) => [...pair]));
  const read = useRead<SensitiveDataValues>(`/zones/${zone.id}/sensitive_data/values?${query.toString()}`, { keepsPrevious: true });
  const found = read.data?.result;
  const ruleset = useRead<Ruleset>(found && found.values.length > 0 ? `/zones/${zone.id}/rulesets/${RULESET}` : undefined);
  const names = new Map(ruleset.data?.result.rules.map(({ id, description }) => [id, description]));
  /** The names of its rules. A pattern of the account has the name that was given to it. */
  const kindOf = (rules: readonly string[], detectors: readonly string[]): ReactNode => (
    <span title={detectors.join(", ")}>{[...new Set(rules.map((id, at) => names.get(id) || detectors[at] || id))].join(", ")}</span>
  );
  return (
    <>
      <PageHead
        title="Sensitive data"
        lead="Cards, identity numbers and secrets in the responses of this zone. Detection does not delay or change a response."
      >
        <TimePicker range={range} />
      </PageHead>
      <Card title="Found in responses">
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !found ? (
          <Loading />
        ) : found.values.length === 0 ? (
          <Empty title="Nothing was found in this time">
            <p>
              Detection is part of the{" "}
              <Link className={tools["link"]} to="/zones/$zone/security/managed" params={{ zone: zone.name }}>
                managed rules
              </Link>
              . Turn it on there, or try a text below.
            </p>
          </Empty>
        ) : (
          <div className={tools["stack"]}>
            {!found.is_complete && (
              <Notice tone="warn">{`There are more. These are of the newest ${count(found.events_read)} events; choose a shorter time to see the others.`}</Notice>
            )}
            <List<Value>
              label="Sensitive values"
              rows={found.values}
              keyOf={({ value_hash }) => value_hash}
              columns={[
                { head: "Kind", width: "auto", cell: ({ detectors, rule_ids }) => kindOf(rule_ids, detectors) },
                {
                  head: "Confidence",
                  width: "100px",
                  cell: ({ confidence }) => <Badge tone={CONFIDENCES[confidence]}>{confidence}</Badge>,
                },
                {
                  head: "Place",
                  width: "auto",
                  cell: ({ host, path, json_path }) => `${host}${path}${json_path === undefined ? "" : ` at ${json_path}`}`,
                },
                { head: "Events", width: "70px", isFigure: true, cell: ({ events }) => count(events) },
                { head: "First seen", width: "120px", isMinor: true, cell: ({ first_seen }) => <Time of={first_seen} /> },
                { head: "Last seen", width: "120px", isMinor: true, cell: ({ last_seen }) => <Time of={last_seen} /> },
              ]}
            />
          </div>
        )}
      </Card>
      <ScanText zone={zone} />
      <AllowedDataCard zone={zone} />
    </>
  );
}
