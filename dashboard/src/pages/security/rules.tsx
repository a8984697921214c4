import { Button } from "@mantine/core";
import { useEntrypoint } from "../../api/entrypoint.ts";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Rule, Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card, Empty, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { RuleForm } from "./rule-form.tsx";
import { RuleList } from "./rule-list.tsx";
import { CUSTOM_PHASE, PHASES } from "./rule-phases.ts";

export const RulesPage = () => <ZoneGate>{(zone) => <Rules zone={zone} />}</ZoneGate>;

function Rules({ zone }: { readonly zone: Zone }) {
  const [{ phase: asked = CUSTOM_PHASE, add }, go] = useAddress();
  const phase = PHASES.find(({ id }) => id === asked) ?? PHASES.find(({ id }) => id === CUSTOM_PHASE)!;
  const navigate = useNavigate();
  const base = `/zones/${zone.id}/rulesets`;
  const read = useEntrypoint(zone.id, phase.id);
  const write = useWrite<Ruleset>(base);
  const [form, setForm] = useState<Rule | "new" | undefined>(add === undefined ? undefined : "new");
  const [removing, setRemoving] = useState<Rule>();
  const ruleset = read.data;
  const rules = ruleset?.rules ?? [];
  const patch = (rule: Rule, change: object): void => {
    const { id: _id, version: _version, last_updated: _updated, ...kept } = rule;
    write.mutate({ method: "PATCH", path: `${base}/${ruleset?.id}/rules/${rule.id}`, body: { ...kept, ...change } });
  };
  const move = (rule: Rule, index: number): void =>
    write.mutate({ method: "PATCH", path: `${base}/${ruleset?.id}/rules/${rule.id}`, body: { position: { index } } });
  return (
    <>
      <PageHead title="Rules" lead={phase.lead}>
        <Choice
          label="Phase"
          isQuiet
          value={phase.id}
          options={PHASES.map(({ id, title }) => [id, title] as const)}
          onChange={(id) => go({ phase: id === CUSTOM_PHASE ? undefined : id })}
        />
        <Button
          variant="default"
          onClick={() => void navigate({ to: "/zones/$zone/security/try", params: { zone: zone.name }, search: {} })}
        >
          Try a request
        </Button>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setForm("new")}>
          Add a rule
        </Button>
      </PageHead>
      {write.error && (
        <div className={tools["inset"]}>
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        </div>
      )}
      {ruleset && ruleset.notes.length > 0 && (
        <div className={tools["inset"]}>
          <Notice tone="warn">
            {ruleset.notes.map((note) => (
              <p key={note}>{named(note, rules)}</p>
            ))}
          </Notice>
        </div>
      )}
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : read.isPending ? (
          <Loading />
        ) : rules.length === 0 ? (
          <Empty title="No rules yet">
            <p>{phase.hint}</p>
            <Button onClick={() => setForm("new")}>Add a rule</Button>
          </Empty>
        ) : (
          <RuleList
            rules={rules}
            onEdit={setForm}
            onMove={move}
            onSwitch={(rule, enabled) => patch(rule, { enabled })}
            onRemove={setRemoving}
          />
        )}
      </Card>
      {form !== undefined && (
        <RuleForm
          zone={zone}
          phase={phase}
          ruleset={ruleset ?? undefined}
          rule={form === "new" ? undefined : form}
          onClose={() => {
            setForm(undefined);
            go({ add: undefined }, { replace: true });
          }}
        />
      )}
      {removing && (
        <Confirm
          title={`Delete “${removing.description || "this rule"}”?`}
          action="Delete the rule"
          error={write.error}
          isPending={write.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() =>
            write.mutate(
              { method: "DELETE", path: `${base}/${ruleset?.id}/rules/${removing.id}` },
              { onSuccess: () => setRemoving(undefined) },
            )
          }
        >
          Requests that it stopped pass from now on. The version before stays, and can be read.
        </Confirm>
      )}
    </>
  );
}

/** With the descriptions of rules in place of their identifiers. */
const named = (note: string, rules: readonly Rule[]): string =>
  note.replace(/^Rule ([0-9a-f]{32})\b/, (whole, id: string) => {
    const description = rules.find((rule) => rule.id === id)?.description;
    return description ? `“${description}”` : whole;
  });
