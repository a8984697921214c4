import { Switch, Textarea, TextInput } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { PagePolicy } from "#model/rulesets/page-policy.ts";
import type { Zone } from "#model/zones/zone.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

const ExpressionEditor = lazy(async () => ({ default: (await import("../../parts/expression-editor.tsx")).ExpressionEditor }));

export const ACTIONS = [
  ["log", "Report only"],
  ["allow", "Enforce"],
  ["add_reporting_directives", "Watch the origin's"],
] as const satisfies readonly (readonly [PagePolicy["action"], string])[];

const HINTS: Readonly<Record<PagePolicy["action"], string>> = {
  log: "Browsers load everything, and report what the policy does not allow as security events.",
  allow: "Browsers refuse what the policy does not allow, and report it.",
  add_reporting_directives: "The origin's policy stays, and browsers report what it does not allow.",
};

interface Props {
  readonly zone: Zone;
  readonly path: string;
  readonly policy: PagePolicy | undefined;
  readonly onClose: () => void;
}

/** A Content Security Policy, and the pages that it is for. */
export function PolicyForm({ zone, path, policy, onClose }: Props) {
  const [description, setDescription] = useState(policy?.description ?? "");
  const [expression, setExpression] = useState(policy?.expression ?? "true");
  const [value, setValue] = useState(policy?.value ?? "script-src 'self'");
  const [action, setAction] = useState<PagePolicy["action"]>(policy?.action ?? "log");
  const [enabled, setEnabled] = useState(policy?.enabled ?? true);
  const write = useWrite<PagePolicy>(path);
  const submit = (): void => {
    const body = { description, expression, value, action, enabled };
    const call = policy ? { method: "PUT" as const, path: `${path}/${policy.id}` } : { method: "POST" as const, path };
    write.mutate({ ...call, body }, { onSuccess: onClose });
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = faults["value"] !== undefined || faults["description"] !== undefined;
  return (
    <FormDialog
      title={policy ? "Edit the policy" : "Add a policy"}
      onClose={onClose}
      size={760}
      submit="Save the policy"
      onSubmit={submit}
      isPending={write.isPending}
    >
      <TextInput
        label="Name"
        placeholder="Checkout"
        value={description}
        error={faults["description"]?.message}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        data-autofocus
      />
      <div className={tools["stack"]}>
        <h2 id="pages">On pages where</h2>
        <Suspense fallback={<pre className="mono">{expression}</pre>}>
          <ExpressionEditor
            zone={zone.id}
            phase="http_request_firewall_custom"
            value={expression}
            onChange={setExpression}
            labelledBy="pages"
          />
        </Suspense>
      </div>
      <Textarea
        label="Content Security Policy"
        description="Directives with the sources that browsers may load, between semicolons"
        classNames={{ input: tools["mono"] ?? "" }}
        rows={3}
        value={value}
        error={faults["value"]?.message}
        onChange={({ currentTarget }) => setValue(currentTarget.value)}
        spellCheck={false}
        required
      />
      <Choice label="Then" value={action} options={ACTIONS} onChange={setAction} description={HINTS[action]} />
      <Switch label="On" checked={enabled} onChange={({ currentTarget }) => setEnabled(currentTarget.checked)} />
      {write.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
