import { ActionIcon, Button, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { CustomProvider } from "#model/gateways/gateway-provider.ts";
import { ApiError } from "../../../api/client.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { fieldsOf, fieldsText } from "./header-fields.ts";

interface FormProps {
  readonly base: string;
  /** Undefined for a new one. */
  readonly provider: CustomProvider | undefined;
  readonly onClose: () => void;
}

export function CustomProviderForm({ base, provider, onClose }: FormProps) {
  const [name, setName] = useState(provider?.name ?? "");
  const [slug, setSlug] = useState(provider?.slug);
  const [url, setUrl] = useState(provider?.base_url ?? "");
  const [fields, setFields] = useState(fieldsOf(provider?.headers));
  const [isOn, setOn] = useState(provider?.enable ?? true);
  const write = useWrite<CustomProvider>(base);
  const shownSlug = slug ?? slugOf(name);
  const change = (at: number, part: { name?: string; value?: string }): void =>
    setFields(fields.map((field, i) => (i === at ? { ...field, ...part } : field)));
  const submit = (): void => {
    const body = { name: name.trim(), slug: shownSlug, base_url: url.trim(), headers: fieldsText(fields), enable: isOn };
    write.mutate(provider ? { method: "PATCH", path: `${base}/${provider.id}`, body } : { method: "POST", path: base, body }, {
      onSuccess: onClose,
    });
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const of = (field: string): string | undefined => faults[field] && `${faults[field].message} (${faults[field].code})`;
  const isPlaced = ["name", "slug", "base_url", "headers"].some((field) => faults[field]);
  return (
    <FormDialog
      title={provider ? `Edit ${provider.name}` : "Add a provider"}
      onClose={onClose}
      size={560}
      submit={provider ? "Save" : "Add the provider"}
      onSubmit={submit}
      isPending={write.isPending}
    >
      <div className={tools["two"]}>
        <TextInput
          label="Name"
          description="For people"
          placeholder="Our models"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={of("name")}
          required
          data-autofocus
        />
        <TextInput
          label="Name in paths"
          description={`Requests go to custom-${shownSlug || "…"}`}
          value={shownSlug}
          onChange={({ currentTarget }) => setSlug(currentTarget.value)}
          error={of("slug")}
          autoComplete="off"
          spellCheck={false}
          required
        />
      </div>
      <TextInput
        label="Base URL"
        description="As a client of OpenAI has it: often with /v1 at its end."
        placeholder="https://models.example.com/v1"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        error={of("base_url")}
        autoComplete="off"
        spellCheck={false}
        required
      />
      <div className={tools["stack"]}>
        <h2>Headers</h2>
        {fields.map((field, at) => (
          // Rows have no identifier.
          // oxlint-disable-next-line no-array-index-key
          <div key={at} className={tools["row"]}>
            <TextInput
              aria-label={`Name of header ${at + 1}`}
              placeholder="authorization"
              size="xs"
              value={field.name}
              onChange={({ currentTarget }) => change(at, { name: currentTarget.value })}
              spellCheck={false}
            />
            <TextInput
              aria-label={`Value of header ${at + 1}`}
              placeholder="Bearer …"
              size="xs"
              value={field.value}
              onChange={({ currentTarget }) => change(at, { value: currentTarget.value })}
              autoComplete="off"
              spellCheck={false}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove header ${at + 1}`}
              onClick={() => setFields(fields.filter((_, i) => i !== at))}
            >
              <Icon name="close" size={16} />
            </ActionIcon>
          </div>
        ))}
        <div>
          <Button size="xs" variant="default" onClick={() => setFields([...fields, { name: "", value: "" }])}>
            Add a header
          </Button>
        </div>
        {of("headers") !== undefined && <Notice tone="bad">{of("headers")}</Notice>}
        <p className={tools["hint"]}>
          The gateway adds them to every request to the provider. Their values are not shown again; asterisks keep a value.
        </p>
      </div>
      <Switch label="On" checked={isOn} onChange={({ currentTarget }) => setOn(currentTarget.checked)} />
      {write.error && !isPlaced && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}

/** `Our models` → `our-models`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join("-");
