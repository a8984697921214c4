import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { IngressRule } from "#model/tunnels/ingress.ts";
import { type ApiFault, ApiError } from "../../api/client.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { type Ingress, withRule } from "./use-ingress.ts";

interface Props {
  readonly ingress: Ingress;
  /** The place of the rule to edit; undefined for a new one. */
  readonly at: number | undefined;
  readonly onClose: () => void;
}

export function IngressForm({ ingress: { rules, write, save }, at, onClose }: Props) {
  const rule = at === undefined ? undefined : rules[at];
  const isRest = at !== undefined && at === rules.length - 1;
  const [hostname, setHostname] = useState(rule?.hostname ?? "");
  const [path, setPath] = useState(rule?.path ?? "");
  const [service, setService] = useState(rule?.service ?? "");
  const [takesAny, setTakesAny] = useState(rule?.originRequest?.noTLSVerify ?? false);
  const place = at ?? Math.max(0, rules.length - 1);
  const submit = (): void => {
    const made = ruleOf(rule, { hostname: hostname.trim(), path: path.trim(), service: service.trim(), takesAny });
    save(at === undefined ? withRule(rules, made) : rules.with(at, made), onClose);
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const of = (field: string): string | undefined => textOf(faults[`config.ingress.${place}${field}`]);
  const isPlaced = ["", ".hostname", ".path", ".service"].some((field) => of(field) !== undefined);
  return (
    <FormDialog
      title={isRest ? "All other requests" : rule ? "Edit the rule" : "Add a rule"}
      onClose={onClose}
      size={520}
      submit="Save the rule"
      onSubmit={submit}
      isPending={write.isPending}
    >
      {!isRest && (
        <div className={tools["two"]}>
          <TextInput
            label="Host name"
            description="Empty: every host."
            placeholder="app.example.com, *.example.com"
            value={hostname}
            onChange={({ currentTarget }) => setHostname(currentTarget.value)}
            error={of(".hostname") ?? of("")}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <TextInput
            label="Path"
            description="Regular expression. Empty: every path."
            placeholder="^/api/"
            value={path}
            onChange={({ currentTarget }) => setPath(currentTarget.value)}
            error={of(".path")}
            autoComplete="off"
            spellCheck={false}
          />
        </div>
      )}
      <TextInput
        label="Service"
        description="As the connector reaches it: http://, https:// or tcp:// with host and port, or http_status:404."
        placeholder="http://127.0.0.1:9000"
        value={service}
        onChange={({ currentTarget }) => setService(currentTarget.value)}
        error={of(".service") ?? (isRest ? of("") : undefined)}
        autoComplete="off"
        spellCheck={false}
        required
        data-autofocus={isRest || undefined}
      />
      {service.trim().startsWith("https:") && (
        <Switch
          label="Accept any certificate of the service"
          checked={takesAny}
          onChange={({ currentTarget }) => setTakesAny(currentTarget.checked)}
        />
      )}
      {write.error && !isPlaced && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}

const textOf = (fault: ApiFault | undefined): string | undefined => fault && `${fault.message} (${fault.code})`;

interface Fields {
  readonly hostname: string;
  readonly path: string;
  readonly service: string;
  readonly takesAny: boolean;
}

/** The options that the form does not show stay. */
function ruleOf(old: IngressRule | undefined, { hostname, path, service, takesAny }: Fields): IngressRule {
  const { noTLSVerify, ...kept } = old?.originRequest ?? {};
  const isChosen = service.startsWith("https:") ? takesAny : noTLSVerify === true;
  const originRequest = { ...kept, ...(isChosen || noTLSVerify !== undefined ? { noTLSVerify: isChosen } : {}) };
  return {
    ...(hostname === "" ? {} : { hostname }),
    ...(path === "" ? {} : { path }),
    service,
    ...(Object.keys(originRequest).length === 0 ? {} : { originRequest }),
  };
}
