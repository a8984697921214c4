import { PasswordInput, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ProviderConfig } from "#model/gateways/gateway-provider.ts";
import { ApiError } from "../../../api/client.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { keyHint, KNOWN_PROVIDERS } from "./known-providers.ts";

interface AddProps {
  readonly path: string;
  readonly keys: readonly ProviderConfig[];
  /** The account's own providers, as name and title. */
  readonly own: readonly (readonly [string, string])[];
  readonly onClose: () => void;
}

/** Providers without a key come first in the list, and the first key of a provider is its default. */
export function AddKey({ path, keys, own, onClose }: AddProps) {
  const having = new Set(keys.map(({ provider_slug }) => provider_slug));
  const options = [...own, ...KNOWN_PROVIDERS].map(([name, title]) => [name, having.has(name) ? `${title} (has a key)` : title] as const);
  const [provider, setProvider] = useState(options.find(([name]) => !having.has(name))?.[0] ?? "openai");
  const [alias, setAlias] = useState("");
  const [secret, setSecret] = useState("");
  const [isDefault, setDefault] = useState<boolean>();
  const [limit, setLimit] = useState("");
  const write = useWrite<ProviderConfig>(path);
  const submit = (): void => {
    const body = {
      provider_slug: provider,
      alias: alias.trim(),
      secret: secret.trim(),
      default_config: isDefault ?? !having.has(provider),
      ...(limit === "" ? {} : { rate_limit: Number(limit), rate_limit_period: 60 }),
    };
    write.mutate({ method: "POST", path, body }, { onSuccess: onClose });
  };
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const of = (field: string): string | undefined => faults[field] && `${faults[field].message} (${faults[field].code})`;
  const isPlaced = ["alias", "secret", "rate_limit"].some((field) => faults[field]);
  return (
    <FormDialog title="Store a key" onClose={onClose} size={520} submit="Store the key" onSubmit={submit} isPending={write.isPending}>
      <div className={tools["two"]}>
        <Choice label="Provider" value={provider} options={options} onChange={setProvider} />
        <TextInput
          label="Alias"
          placeholder="production"
          value={alias}
          onChange={({ currentTarget }) => setAlias(currentTarget.value)}
          error={of("alias")}
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
      </div>
      <PasswordInput
        label="Key"
        description={keyHint(provider)}
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
        error={of("secret")}
        autoComplete="off"
        required
      />
      <TextInput
        label="Requests in a minute at most"
        placeholder="no limit"
        inputMode="numeric"
        value={limit}
        onChange={({ currentTarget }) => setLimit(currentTarget.value.replaceAll(/\D/g, ""))}
        error={of("rate_limit")}
      />
      <Switch
        label="Default key of the provider"
        description="For requests that bring no key and name no alias."
        checked={isDefault ?? !having.has(provider)}
        onChange={({ currentTarget }) => setDefault(currentTarget.checked)}
      />
      {write.error && !isPlaced && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
