import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { Passkey, PasskeyStarted } from "#model/access/passkey.ts";
import { api, ApiError } from "../../../api/client.ts";
import { Actions, Dialog } from "../../../parts/modal.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { makePasskey, passkeyFault } from "../../../shell/passkey.ts";
import { browserLabel } from "../../../shell/session.ts";

export function AddPasskey({ hasPassword, onClose }: { readonly hasPassword: boolean; readonly onClose: () => void }) {
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: async ({ name, ...proof }: { name: string; current_password?: string }) => {
      const started = await api<PasskeyStarted>("POST", "/user/passkeys/options", proof);
      const credential = await makePasskey(started.result);
      return api<Passkey>("POST", "/user/passkeys", { name, credential });
    },
    onSuccess: () => {
      onClose();
      return client.invalidateQueries({ queryKey: ["get", "/user/passkeys"] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const name = String(fields.get("name")).trim();
    add.mutate({ name, ...(hasPassword && { current_password: String(fields.get("current")) }) });
  };
  const faults = add.error instanceof ApiError ? add.error.byField() : {};
  const isBesideField = faults["current_password"] !== undefined || faults["name"] !== undefined;
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
        <p className={tools["hint"]}>Your browser asks next where the passkey is to be: on this device, on a phone or on a key.</p>
        <TextInput
          label="Name"
          description="How you recognise it in the list"
          name="name"
          defaultValue={browserLabel()}
          maxLength={60}
          required
          error={faults["name"]?.message}
        />
        {hasPassword && (
          <PasswordInput
            label="Your password"
            name="current"
            autoComplete="current-password"
            required
            data-autofocus
            error={faults["current_password"]?.message}
          />
        )}
        {add.error && !isBesideField && (
          <Notice tone="bad">
            <Fault error={passkeyFault(add.error)} />
          </Notice>
        )}
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending} loaderProps={{ type: "dots" }}>
            Add the passkey
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
