import { Button, TextInput } from "@mantine/core";
import type { FormEvent } from "react";
import type { Passkey } from "#model/access/passkey.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Actions, Dialog } from "../../../parts/modal.tsx";
import { Fault, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

export function RenamePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const edit = useWrite<Passkey>("/user/passkeys");
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name")).trim();
    edit.mutate({ method: "PATCH", path: `/user/passkeys/${passkey.id}`, body: { name } }, { onSuccess: onClose });
  };
  return (
    <Dialog title="Rename the passkey" onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
        <TextInput label="Name" name="name" defaultValue={passkey.name} maxLength={60} required data-autofocus />
        {edit.error && (
          <Notice tone="bad">
            <Fault error={edit.error} />
          </Notice>
        )}
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={edit.isPending} loaderProps={{ type: "dots" }}>
            Rename
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
