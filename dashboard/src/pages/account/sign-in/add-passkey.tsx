import { PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Passkey, PasskeyStarted } from "#model/access/passkey.ts";
import { api, ApiError } from "../../../api/client.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
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
  const submit = (form: HTMLFormElement): void => {
    const fields = new FormData(form);
    const name = String(fields.get("name")).trim();
    add.mutate({ name, ...(hasPassword && { current_password: String(fields.get("current")) }) });
  };
  const faults = add.error instanceof ApiError ? add.error.byField() : {};
  const isBesideField = faults["current_password"] !== undefined || faults["name"] !== undefined;
  return (
    <FormDialog title="Add a passkey" onClose={onClose} submit="Add the passkey" onSubmit={submit} isPending={add.isPending}>
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
    </FormDialog>
  );
}
