import { ActionIcon, Button, Switch } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Rule, Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { ApiError } from "../../api/client.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { TONES } from "./events.tsx";
import { RuleForm } from "./rule-form.tsx";
import { CUSTOM_PHASE, PHASES } from "./rule-phases.ts";
import css from "./rules.module.css";

export const RulesPage = () => <ZoneGate>{(zone) => <Rules zone={zone} />}</ZoneGate>;

function Rules({ zone }: { readonly zone: Zone }) {
  const [{ phase: asked = CUSTOM_PHASE, add }, go] = useAddress();
  const phase = PHASES.find(({ id }) => id === asked) ?? PHASES.find(({ id }) => id === CUSTOM_PHASE)!;
  const navigate = useNavigate();
  const base = `/zones/${zone.id}/rulesets`;
  const entry = `${base}/phases/${phase.id}/entrypoint`;
  const read = useRead<Ruleset>(entry);
  const write = useWrite<Ruleset>(base);
  const [form, setForm] = useState<Rule | "new" | undefined>(add === undefined ? undefined : "new");
  const [removing, setRemoving] = useState<Rule>();
  const isAbsent = read.error instanceof ApiError && read.error.status === 404;
  const ruleset = read.data?.result;
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
      <Card>
        {read.error && !isAbsent ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : read.isPending ? (
          <Loading />
        ) : rules.length === 0 ? (
          <Empty title="No rules yet">
            <p>{phase.hint}</p>
            <Button onClick={() => setForm("new")}>Add a rule</Button>
          </Empty>
        ) : (
          <ol className={css["rules"]}>
            {rules.map((rule, at) => (
              <li
                key={rule.id}
                data-off={!rule.enabled || undefined}
                onKeyDown={(event) => {
                  const to = { ArrowUp: at, ArrowDown: at + 2 }[event.key];
                  if (!event.altKey || to === undefined || to < 1 || to > rules.length) return;
                  event.preventDefault();
                  move(rule, to);
                }}
              >
                <span className={css["number"]}>{at + 1}</span>
                <div className={css["what"]}>
                  <button type="button" onClick={() => setForm(rule)}>
                    {rule.description || "A rule without a name"}
                  </button>
                  <code>{rule.expression}</code>
                </div>
                <Badge tone={TONES[rule.action] ?? "accent"}>{rule.action.replaceAll("_", " ")}</Badge>
                <Switch
                  aria-label={`${rule.description || `Rule ${at + 1}`} runs`}
                  checked={rule.enabled}
                  onChange={({ currentTarget }) => patch(rule, { enabled: currentTarget.checked })}
                />
                <span className={css["acts"]}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Move rule ${at + 1} up`}
                    title="Alt ↑"
                    disabled={at === 0}
                    onClick={() => move(rule, at)}
                  >
                    <Icon name="up" size={16} />
                  </ActionIcon>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Move rule ${at + 1} down`}
                    title="Alt ↓"
                    disabled={at === rules.length - 1}
                    onClick={() => move(rule, at + 2)}
                  >
                    <Icon name="down" size={16} />
                  </ActionIcon>
                  <ActionIcon variant="subtle" color="gray" aria-label={`Delete rule ${at + 1}`} onClick={() => setRemoving(rule)}>
                    <Icon name="trash" size={16} />
                  </ActionIcon>
                </span>
              </li>
            ))}
          </ol>
        )}
      </Card>
      {form !== undefined && (
        <RuleForm
          zone={zone}
          phase={phase}
          ruleset={ruleset}
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
