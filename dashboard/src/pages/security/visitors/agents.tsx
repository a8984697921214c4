import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { UaRule } from "#model/rulesets/ua-rule.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Badge } from "../../../parts/page.tsx";
import { MODES } from "../../account/access-rules/access-words.ts";
import { VisitorRules } from "./visitor-rules.tsx";

const ACTIONS = ["block", "managed_challenge", "js_challenge", "challenge"] as const satisfies readonly UaRule["mode"][];

/** Programs that are blocked or challenged by the name that they send. */
export function Agents({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/firewall/ua_rules`;
  return (
    <VisitorRules<UaRule>
      title="User agents"
      path={path}
      add="Add a user agent"
      empty="A program names itself in the User-Agent field. Block or challenge one that you do not want, by its exact name."
      after="The program meets the other rules of the zone like everybody else."
      nameOf={({ configuration }) => configuration.value}
      columns={[
        { head: "User agent", width: "auto", cell: ({ configuration }) => <b>{configuration.value}</b> },
        { head: "Action", width: "170px", cell: ({ mode }) => <Badge tone={MODES[mode].tone}>{MODES[mode].title}</Badge> },
      ]}
      form={(rule, onClose) => <AgentForm path={path} rule={rule} onClose={onClose} />}
    />
  );
}

interface FormProps {
  readonly path: string;
  readonly rule: UaRule | undefined;
  readonly onClose: () => void;
}

function AgentForm({ path, rule, onClose }: FormProps) {
  const [value, setValue] = useState(rule?.configuration.value ?? "");
  const [mode, setMode] = useState<UaRule["mode"]>(rule?.mode ?? "block");
  const [description, setDescription] = useState(rule?.description ?? "");
  const [isOn, setOn] = useState(!(rule?.paused ?? false));
  const write = useWrite<UaRule>(path);
  const submit = (): void => {
    const body = { configuration: { target: "ua", value }, mode, description, paused: !isOn };
    write.mutate(rule ? { method: "PUT", path: `${path}/${rule.id}`, body } : { method: "POST", path, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={rule ? "Edit the user agent" : "Add a user agent"}
      onClose={onClose}
      size={560}
      submit="Save the user agent"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <TextInput
        label="User agent"
        description="The whole text that the program sends, as the page of a request shows it."
        placeholder="BadBot/1.0"
        value={value}
        onChange={({ currentTarget }) => setValue(currentTarget.value)}
        spellCheck={false}
        maxLength={2048}
        required
        data-autofocus
      />
      <Choice label="Action" value={mode} options={ACTIONS.map((one) => [one, MODES[one].title] as const)} onChange={setMode} />
      <TextInput label="Name" value={description} onChange={({ currentTarget }) => setDescription(currentTarget.value)} maxLength={1024} />
      <Switch label="On" checked={isOn} onChange={({ currentTarget }) => setOn(currentTarget.checked)} />
    </FormDialog>
  );
}
