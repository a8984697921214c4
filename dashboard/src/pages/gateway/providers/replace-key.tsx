import { Button, PasswordInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { ProviderConfig } from "#model/gateways/gateway-provider.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Actions, Dialog } from "../../../parts/modal.tsx";
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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ method: "PUT", path: `${path}/${id}`, body: { secret: secret.trim() } }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Replace the key ${alias} of ${providerTitle(provider)}`} onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
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
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            Replace the key
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
