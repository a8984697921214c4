import { TextInput } from "@mantine/core";
import type { Passkey } from "#model/access/passkey.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";

export function RenamePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const edit = useWrite<Passkey>("/user/passkeys");
  const submit = (form: HTMLFormElement): void => {
    const name = String(new FormData(form).get("name")).trim();
    edit.mutate({ method: "PATCH", path: `/user/passkeys/${passkey.id}`, body: { name } }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Rename the passkey"
      onClose={onClose}
      submit="Rename"
      onSubmit={submit}
      isPending={edit.isPending}
      error={edit.error}
    >
      <TextInput label="Name" name="name" defaultValue={passkey.name} maxLength={60} required data-autofocus />
    </FormDialog>
  );
}
