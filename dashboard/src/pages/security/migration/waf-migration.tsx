import { Button } from "@mantine/core";
import { useState } from "react";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import type { WafMigrationCheck, WafMigrationConfig, WafMigrationStatus } from "#model/rulesets/waf-migration.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { useAddress } from "../../../api/search.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Badge, Card, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { Configuration } from "./configuration.tsx";
import { Differences } from "./differences.tsx";

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
        {isReviewing && (config.data ? <Configuration zoneId={zone.id} rules={config.data.result.rules} /> : <Loading />)}
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
