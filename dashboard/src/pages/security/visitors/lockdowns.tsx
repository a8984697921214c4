import { Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Lockdown } from "#model/rulesets/lockdown.ts";
import type { Zone } from "#model/zones/zone.ts";
import { addressesOf } from "../../../api/addresses.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { targetOf } from "../../account/access-rules/access-words.ts";
import { VisitorRules } from "./visitor-rules.tsx";

/** Pages that only some addresses reach. */
export function Lockdowns({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/firewall/lockdowns`;
  return (
    <VisitorRules<Lockdown>
      title="Lockdowns"
      path={path}
      add="Add a lockdown"
      empty="A lockdown closes pages, such as those of the staff, to all addresses but yours."
      after="Everybody then reaches these pages, as far as other rules allow it."
      nameOf={({ urls }) => urls[0] ?? ""}
      columns={[
        { head: "Pages", width: "auto", cell: ({ urls }) => <b>{urls.join(", ")}</b> },
        {
          head: "Only from",
          width: "auto",
          cell: ({ configurations }) => <span className="num">{configurations.map(({ value }) => value).join(", ")}</span>,
        },
      ]}
      form={(rule, onClose) => <LockdownForm zone={zone} path={path} rule={rule} onClose={onClose} />}
    />
  );
}

interface FormProps {
  readonly zone: Zone;
  readonly path: string;
  readonly rule: Lockdown | undefined;
  readonly onClose: () => void;
}

function LockdownForm({ zone, path, rule, onClose }: FormProps) {
  const [urls, setUrls] = useState(rule?.urls.join("\n") ?? "");
  const [addresses, setAddresses] = useState(rule?.configurations.map(({ value }) => value).join("\n") ?? "");
  const [description, setDescription] = useState(rule?.description ?? "");
  const [isOn, setOn] = useState(!(rule?.paused ?? false));
  const write = useWrite<Lockdown>(path);
  const submit = (): void => {
    const body = {
      urls: urls
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
      configurations: addressesOf(addresses).map((value) => ({ target: targetOf(value), value })),
      description,
      paused: !isOn,
      ...(rule?.priority === undefined ? {} : { priority: rule.priority }),
    };
    write.mutate(rule ? { method: "PUT", path: `${path}/${rule.id}`, body } : { method: "POST", path, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={rule ? "Edit the lockdown" : "Add a lockdown"}
      onClose={onClose}
      size={560}
      submit="Save the lockdown"
      onSubmit={submit}
      isPending={write.isPending}
      error={write.error}
    >
      <Textarea
        label="Pages"
        description={`One on each line, with stars for any text: www.${zone.name}/admin/*`}
        rows={3}
        value={urls}
        onChange={({ currentTarget }) => setUrls(currentTarget.value)}
        spellCheck={false}
        required
        data-autofocus
      />
      <Textarea
        label="Only these addresses reach them"
        description="One on each line: 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32. Everybody else is blocked, you too if yours is not here."
        rows={3}
        value={addresses}
        onChange={({ currentTarget }) => setAddresses(currentTarget.value)}
        spellCheck={false}
        required
      />
      <TextInput label="Name" value={description} onChange={({ currentTarget }) => setDescription(currentTarget.value)} maxLength={1024} />
      <Switch label="On" checked={isOn} onChange={({ currentTarget }) => setOn(currentTarget.checked)} />
    </FormDialog>
  );
}
