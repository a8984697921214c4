import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, lazy, Suspense, useState } from "react";
import type { RuleTrace } from "#model/rulesets/rule-trace.ts";
import type { Rule, Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Actions, Dialog } from "../../parts/modal.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import type { Phase } from "./rule-phases.ts";

const ExpressionEditor = lazy(async () => ({ default: (await import("../../parts/expression-editor.tsx")).ExpressionEditor }));

interface FormProps {
  readonly zone: Zone;
  readonly phase: Phase;
  /** Undefined where the phase has none yet. */
  readonly ruleset: Ruleset | undefined;
  readonly rule: Rule | undefined;
  /** The expression of an exception that was begun at an event. */
  readonly exception: string | undefined;
  readonly onClose: () => void;
}

const SKIP = { ruleset: "current" };

export function RuleForm({ zone, phase, ruleset, rule, exception, onClose }: FormProps) {
  const [description, setDescription] = useState(rule?.description ?? (exception === undefined ? "" : "Exception"));
  const [expression, setExpression] = useState(rule?.expression ?? exception ?? 'http.request.uri.path contains "/admin"');
  const [action, setAction] = useState<string>(rule?.action ?? (exception === undefined ? phase.actions[0] : "skip"));
  const base = `/zones/${zone.id}/rulesets`;
  const write = useWrite<Ruleset>(base);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parameters = action === "skip" ? (rule?.action === "skip" ? rule.action_parameters : SKIP) : undefined;
    const body = {
      description,
      expression,
      action,
      enabled: rule?.enabled ?? true,
      ...(parameters ? { action_parameters: parameters } : {}),
      // A skip rule applies to the rules below it.
      ...(rule || action !== "skip" ? {} : { position: { before: "" } }),
    };
    const { position: _position, ...first } = { position: undefined, ...body };
    const call = rule
      ? { method: "PATCH" as const, path: `${base}/${ruleset?.id}/rules/${rule.id}`, body }
      : ruleset
        ? { method: "POST" as const, path: `${base}/${ruleset.id}/rules`, body }
        : { method: "PUT" as const, path: `${base}/phases/${phase.id}/entrypoint`, body: { rules: [first] } };
    write.mutate(call, { onSuccess: onClose });
  };
  return (
    <Dialog title={rule ? "Edit the rule" : exception === undefined ? "Add a rule" : "Make an exception"} onClose={onClose} size={680}>
      <form className={tools["form"]} onSubmit={submit}>
        <div className={tools["two"]}>
          <TextInput
            label="Name"
            placeholder="Admin from outside the office"
            value={description}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
            data-autofocus
          />
          <Choice
            label="Then"
            value={action}
            options={phase.actions.map((one) => [one, one.replaceAll("_", " ")] as const)}
            onChange={setAction}
          />
        </div>
        <div>
          <h2 id="when">When a request matches</h2>
          <Suspense fallback={<pre className="mono">{expression}</pre>}>
            <ExpressionEditor zone={zone.id} phase={phase.id} value={expression} onChange={setExpression} labelledBy="when" />
          </Suspense>
        </div>
        {action === "skip" && (
          <Notice tone="warn">
            Matching requests pass all {phase.id === "http_request_firewall_managed" ? "managed" : "remaining custom"} rules.
          </Notice>
        )}
        <TryIt zone={zone} />
        {write.error && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            Save the rule
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

/** Runs the saved rules on a described request. */
function TryIt({ zone }: { readonly zone: Zone }) {
  const [url, setUrl] = useState(`https://www.${zone.name}/`);
  const [ip, setIp] = useState("192.0.2.1");
  const trace = useMutation({ mutationFn: () => api<RuleTrace>("POST", `/zones/${zone.id}/rulesets/trace`, { url, ip }) });
  const end = trace.data?.result.terminated_by;
  return (
    <details>
      <summary>Try the rules as they are saved now</summary>
      <div className={tools["stack"]}>
        <div className={tools["two"]}>
          <TextInput label="Address" value={url} onChange={({ currentTarget }) => setUrl(currentTarget.value)} />
          <TextInput label="From" value={ip} onChange={({ currentTarget }) => setIp(currentTarget.value)} />
        </div>
        <div className={tools["row"]}>
          <Button variant="default" loading={trace.isPending} loaderProps={{ type: "dots" }} onClick={() => trace.mutate()}>
            Try it
          </Button>
          {trace.error && <Fault error={trace.error} />}
          {trace.data && (end ? `Ended by ${end.action.replaceAll("_", " ")} in ${end.phase}.` : "Passes to the origin.")}
        </div>
      </div>
    </details>
  );
}
