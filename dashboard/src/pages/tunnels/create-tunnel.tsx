import { Button, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Tunnel } from "#model/tunnels/tunnel.ts";
import { useWrite } from "../../api/hooks.ts";
import { Actions, Dialog } from "../../parts/modal.tsx";
import { Fault } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** Afterwards the tunnel's page is open, which says what to run. */
export function CreateTunnel({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const write = useWrite<Tunnel>(path);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate(
      // The rules of this tunnel are those of the dashboard, and not of a connector's command line.
      { method: "POST", path, body: { name: name.trim(), config_src: "cloudflare" } },
      { onSuccess: ({ result }) => void navigate({ to: "/tunnels/$tunnel", params: { tunnel: result.id }, search: {} }) },
    );
  };
  return (
    <Dialog title="Create a tunnel" onClose={onClose}>
      <form className={tools["form"]} onSubmit={submit}>
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
        <Actions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} loaderProps={{ type: "dots" }}>
            Create
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
