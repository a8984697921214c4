import { PasswordInput } from "@mantine/core";
import { useState } from "react";
import type { ProviderConfig } from "#model/gateways/gateway-provider.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Fault } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { keyHint, providerTitle } from "./known-providers.ts";

interface ReplaceProps {
  readonly path: string;
  readonly of: ProviderConfig;
  readonly onClose: () => void;
}

export function ReplaceKey({ path, of: { id, alias, provider_slug: provider }, onClose }: ReplaceProps) {
  const [secret, setSecret] = useState("");
  const write = useWrite<ProviderConfig>(path);
  const submit = (): void => {
    write.mutate({ method: "PUT", path: `${path}/${id}`, body: { secret: secret.trim() } }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={`Replace the key ${alias} of ${providerTitle(provider)}`}
      onClose={onClose}
      submit="Replace the key"
      onSubmit={submit}
      isPending={write.isPending}
    >
      <PasswordInput
        label="New key"
        description={keyHint(provider)}
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        autoComplete="off"
        required
        data-autofocus
      />
      <p className={tools["hint"]}>The next request uses it. Revoke the old key at the provider afterwards.</p>
    </FormDialog>
  );
}
