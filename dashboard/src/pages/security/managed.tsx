import { Switch } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Ruleset, RulesetSummary } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useEntrypoint } from "../../api/entrypoint.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Badge, Card, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import type { Overrides } from "./overrides.ts";
import { WafMigration } from "./migration/waf-migration.tsx";
import css from "./managed.module.css";

export const ManagedPage = () => <ZoneGate>{(zone) => <Managed zone={zone} />}</ZoneGate>;

/** The ruleset that blocks attacks without any tuning, so it is first. */
const MANAGED_ID = "efb7b8c949ac4650a09736fc376e9aee";
const PHASES = ["http_request_firewall_managed", "http_response_firewall_managed"] as const;

/** Which managed rulesets an entry point of the zone executes. */
function Managed({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}/rulesets`;
  const rulesets = useRead<RulesetSummary[]>(base);
  return (
    <>
      <PageHead title="Managed rules" lead="Rules that come with Selvedge: known attacks in requests, and sensitive data in responses." />
      <WafMigration zone={zone} />
      {rulesets.error ? (
        <Failed error={rulesets.error} onAgain={() => void rulesets.refetch()} />
      ) : !rulesets.data ? (
        <Card>
          <Loading />
        </Card>
      ) : (
        PHASES.map((phase) => (
          <PhaseCard
            key={phase}
            zone={zone}
            phase={phase}
            rulesets={rulesets.data.result
              .filter((one) => one.kind === "managed" && one.phase === phase)
              .toSorted((a, b) => Number(b.id === MANAGED_ID) - Number(a.id === MANAGED_ID))}
          />
        ))
      )}
    </>
  );
}

interface PhaseProps {
  readonly zone: Zone;
  readonly phase: (typeof PHASES)[number];
  readonly rulesets: readonly RulesetSummary[];
}

function PhaseCard({ zone, phase, rulesets }: PhaseProps) {
  const base = `/zones/${zone.id}/rulesets`;
  const entry = `${base}/phases/${phase}/entrypoint`;
  const read = useEntrypoint(zone.id, phase);
  const write = useWrite<Ruleset>(base);
  const current = read.data;
  const ruleOf = (id: string) =>
    current?.rules.find(({ action, action_parameters }) => action === "execute" && action_parameters?.["id"] === id);
  const changesOf = (id: string): number => {
    const { rules = [], categories = [] } = (ruleOf(id)?.action_parameters?.["overrides"] ?? {}) as Overrides;
    return rules.length + categories.length;
  };
  const turn = ({ id, name }: RulesetSummary, isOn: boolean): void => {
    const rule = ruleOf(id);
    const added = { action: "execute", action_parameters: { id }, expression: "true", description: name, enabled: true };
    if (!current) return write.mutate({ method: "PUT", path: entry, body: { rules: [added] } });
    if (!rule) return write.mutate({ method: "POST", path: `${base}/${current.id}/rules`, body: added });
    const { id: _id, version: _version, last_updated: _updated, ...kept } = rule;
    write.mutate({ method: "PATCH", path: `${base}/${current.id}/rules/${rule.id}`, body: { ...kept, enabled: isOn } });
  };
  return (
    <Card title={phase === "http_request_firewall_managed" ? "Attacks in requests" : "Sensitive data in responses"}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : read.isPending ? (
        <Loading />
      ) : (
        <div className={tools["stack"]}>
          {write.error && (
            <Notice tone="bad">
              <Fault error={write.error} />
            </Notice>
          )}
          <ul className={css["rulesets"]}>
            {rulesets.map((ruleset) => (
              <li key={ruleset.id}>
                <div>
                  <Link
                    className={tools["link"]}
                    to="/zones/$zone/security/managed/$ruleset"
                    params={{ zone: zone.name, ruleset: ruleset.id }}
                  >
                    {ruleset.name}
                  </Link>{" "}
                  {ruleset.id === MANAGED_ID && !ruleOf(ruleset.id) && <Badge tone="accent">start with this one</Badge>}
                  <p>{ruleset.description || `Version ${ruleset.version}`}</p>
                </div>
                {changesOf(ruleset.id) > 0 && <Badge tone="accent">{changesOf(ruleset.id)} overrides</Badge>}
                <Switch
                  aria-label={`${ruleset.name} runs`}
                  checked={ruleOf(ruleset.id)?.enabled ?? false}
                  disabled={write.isPending}
                  onChange={({ currentTarget }) => turn(ruleset, currentTarget.checked)}
                />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}
