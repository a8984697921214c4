import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Tunnel } from "#model/tunnels/tunnel.ts";
import { useWrite } from "../../api/hooks.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault } from "../../parts/page.tsx";

/** Afterwards the tunnel's page is open, which says what to run. */
export function CreateTunnel({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const write = useWrite<Tunnel>(path);
  const submit = (): void => {
    write.mutate(
      // The rules of this tunnel are those of the dashboard, and not of a connector's command line.
      { method: "POST", path, body: { name: name.trim(), config_src: "cloudflare" } },
      { onSuccess: ({ result }) => void navigate({ to: "/tunnels/$tunnel", params: { tunnel: result.id }, search: {} }) },
    );
  };
  return (
    <FormDialog title="Create a tunnel" onClose={onClose} submit="Create" onSubmit={submit} isPending={write.isPending}>
      <TextInput
        label="Name"
        description="Such as the place where its connectors run."
        placeholder="office"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        maxLength={100}
        required
        data-autofocus
      />
    </FormDialog>
  );
}
