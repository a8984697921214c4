import { Button } from "@mantine/core";
import { useState } from "react";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import type { WafMigrationCheck, WafMigrationConfig, WafMigrationStatus } from "#model/rulesets/waf-migration.ts";
import type { Zone } from "#model/zones/zone.ts";
import { type Group, groupsNode, useGroups } from "../../api/analytics.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { nowMs } from "../../api/now.ts";
import { useAddress } from "../../api/search.ts";
import { rangeOf } from "../../api/time-range.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Loading, Notice } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import css from "./managed.module.css";

const DAY_MS = 86_400_000;

type Step = "validation" | "pending";

/** The way from the previous WAF to managed rules (SPEC 1.5, SPEC 3.3), while the zone has one to go. */
export function WafMigration({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}`;
  const status = useRead<WafMigrationStatus>(`${base}/waf_migration/status`);
  const check = useRead<WafMigrationCheck>(`${base}/waf_migration/check?phase_two=1`);
  const [{ ready }, go] = useAddress();
  const [isReviewing, setReviewing] = useState(false);
  const [step, setStep] = useState<Step>();
  const config = useRead<WafMigrationConfig>(isReviewing || step !== undefined ? `${base}/waf_migration/config?phase_two=1` : undefined);
  // The new WAF keeps the changes that were made while both versions ran.
  const deployed = useRead<Ruleset>(step === "pending" ? `${base}/rulesets/phases/http_request_firewall_managed/entrypoint` : undefined);
  const write = useWrite<Ruleset>(base);
  const state = status.data?.result;
  if (!state || !check.data || (state.old_waf_status === "disabled" && state.migration_state !== "validation")) return null;
  const isEnterprise = zone.plan.legacy_id === "enterprise";
  const deploy = (mode: Step): void => {
    const kept = deployed.data?.result.rules.map(({ id: _id, version: _version, last_updated: _updated, ...rule }) => rule);
    const rules = state.migration_state === "validation" ? kept : config.data?.result.rules;
    const body = { name: config.data?.result.name, rules: rules ?? [] };
    const path = `${base}/rulesets/phases/http_request_firewall_managed/entrypoint?waf_migration=${mode}&phase_two=1`;
    write.mutate({ method: "PUT", path, body }, { onSuccess: () => setStep(undefined) });
  };
  const isValidating = state.migration_state === "validation";
  return (
    <Card
      title="From the previous WAF to managed rules"
      aside={<Badge tone={isValidating ? "warn" : "accent"}>{isValidating ? "both versions run" : "can begin"}</Badge>}
    >
      <div className={tools["stack"]}>
        {!check.data.result.compatible ? (
          <Notice tone="warn" title="This zone cannot move yet">
            It uses something of the previous WAF that has no counterpart. The guide names each case.
          </Notice>
        ) : isValidating ? (
          <p className={tools["hint"]}>
            Both versions see every request, and events say which of them acted. When the new one does what you expect, turn the previous
            one off. That cannot be undone.
          </p>
        ) : (
          <p className={tools["hint"]}>
            Your WAF can move. The configuration below does what the previous one does; review it, then deploy it.{" "}
            {isEnterprise
              ? "Both versions run side by side until you turn the previous one off."
              : "The previous version is turned off by it, which cannot be undone."}
          </p>
        )}
        {isValidating && <Differences zone={zone} />}
        {isReviewing && (config.data ? <Configuration rules={config.data.result.rules} /> : <Loading />)}
        {check.data.result.compatible && (
          <div className={tools["row"]}>
            {!isValidating && (
              <Button variant="default" onClick={() => setReviewing(!isReviewing)}>
                {isReviewing ? "Hide the configuration" : "Review the configuration"}
              </Button>
            )}
            {isValidating ? (
              ready === undefined ? (
                <Button onClick={() => go({ ready: "1" })}>Ready to update</Button>
              ) : (
                <>
                  <Button variant="default" onClick={() => go({ ready: undefined })}>
                    Not yet
                  </Button>
                  <Button onClick={() => setStep("pending")}>Turn off previous version</Button>
                </>
              )
            ) : (
              <Button onClick={() => setStep(isEnterprise ? "validation" : "pending")}>Deploy</Button>
            )}
          </div>
        )}
      </div>
      {step !== undefined && (
        <Confirm
          title={step === "pending" ? "Turn off the previous version?" : "Deploy beside the previous version?"}
          action={step === "pending" ? "Turn it off for good" : "Deploy"}
          {...(step === "pending" ? { typed: zone.name } : {})}
          error={write.error}
          isPending={write.isPending || !config.data || (state.migration_state === "validation" && !deployed.data)}
          onClose={() => setStep(undefined)}
          onConfirm={() => deploy(step)}
        >
          {step === "pending"
            ? "Managed rules take over at once. You cannot go back to the previous WAF."
            : "Both versions run. Nothing is turned off yet."}
        </Confirm>
      )}
    </Card>
  );
}

interface Difference {
  readonly source: string;
  readonly description: string;
  readonly action: string;
}

/** Actions of both WAFs in the last day: rules of the new one beside those of the previous one. */
function Differences({ zone }: { readonly zone: Zone }) {
  const until = nowMs();
  const range = rangeOf(until - DAY_MS, until, "24h");
  const { data } = useGroups<"events", Difference>(
    { kind: "zones", id: zone.id },
    {
      events: groupsNode("firewallEventsAdaptiveGroups", range, "count dimensions { source description action }", {
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
      {([false, true] as const).map((isPrevious) => (
        <div key={String(isPrevious)} className={tools["stack"]}>
          <h3 className={tools["label"]}>{isPrevious ? "Previous version" : "Managed rules"} in the last 24 hours</h3>
          {of(isPrevious).length === 0 ? (
            <p className={tools["quiet"]}>It acted on no request.</p>
          ) : (
            <List<Group<Difference>>
              label={isPrevious ? "Events of the previous version" : "Events of managed rules"}
              rows={of(isPrevious)}
              keyOf={({ dimensions }) => `${dimensions.description} ${dimensions.action}`}
              columns={[
                { head: "Rule", width: "auto", cell: ({ dimensions }) => dimensions.description || "without a name" },
                { head: "Action", width: "90px", cell: ({ dimensions }) => dimensions.action.replaceAll("_", " ") },
                { head: "Requests", width: "80px", isFigure: true, cell: (group) => count(group.count) },
              ]}
            />
          )}
        </div>
      ))}
    </div>
  );
}

const Configuration = ({ rules }: { readonly rules: WafMigrationConfig["rules"] }) => (
  <ol className={css["rulesets"]}>
    {rules.map(({ description, expression, action, action_parameters }, at) => (
      <li key={`${at} ${description}`}>
        <div>
          <b>{description || action}</b>
          <p className="mono">{expression}</p>
          <p className="mono">{JSON.stringify(action_parameters)}</p>
        </div>
        <Badge>{action}</Badge>
      </li>
    ))}
  </ol>
);
