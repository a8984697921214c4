import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Webhook } from "#model/events/notification.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import tools from "../../../parts/tools.module.css";
import type { AvailableAlerts } from "./notifications.tsx";

interface CreateProps {
  readonly base: string;
  readonly types: AvailableAlerts;
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
}

/** A policy for all zones of the account. */
export function CreatePolicy({ base, types, webhooks, onClose }: CreateProps) {
  const all = Object.values(types).flat();
  const [name, setName] = useState("");
  const [type, setType] = useState(all[0]?.type ?? "");
  const [addresses, setAddresses] = useState("");
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const write = useWrite<{ id: string }>(base);
  const email = addresses.split(/[\s,;]+/).filter(Boolean);
  const submit = (): void => {
    const mechanisms = { email: email.map((id) => ({ id })), webhooks: [...picked].map((id) => ({ id })) };
    const body = { name: name.trim(), enabled: true, alert_type: type, filters: {}, mechanisms };
    write.mutate({ method: "POST", path: `${base}/policies`, body }, { onSuccess: onClose });
  };
  const turn = (id: string): void => setPicked((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id]));
  return (
    <FormDialog
      title="Create a policy"
      onClose={onClose}
      size={560}
      submit="Create the policy"
      onSubmit={submit}
      isPending={write.isPending}
      isDisabled={email.length + picked.size === 0}
      error={write.error}
    >
      <Choice
        label="Alert"
        value={type}
        options={all.map((one) => [one.type, one.display_name] as const)}
        onChange={setType}
        description={all.find((one) => one.type === type)?.description}
      />
      <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} required data-autofocus />
      <Textarea
        label="E-mail addresses"
        description="One on each line."
        rows={2}
        value={addresses}
        onChange={({ currentTarget }) => setAddresses(currentTarget.value)}
        spellCheck={false}
      />
      {webhooks.length > 0 && (
        <fieldset className={tools["checks"]}>
          <legend>Webhooks</legend>
          {webhooks.map(({ id, name: hook }) => (
            <label key={id}>
              <input type="checkbox" checked={picked.has(id)} onChange={() => turn(id)} /> {hook}
            </label>
          ))}
        </fieldset>
      )}
    </FormDialog>
  );
}
