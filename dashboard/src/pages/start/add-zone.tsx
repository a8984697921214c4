import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useAccount, useWrite } from "../../api/hooks.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** The host of an address that was pasted, or the text as it is. */
function domainIn(text: string): string {
  const [host = ""] = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .split(/[/?#]/, 1);
  return host;
}

export function AddZone({ onClose }: { readonly onClose: () => void }) {
  const account = useAccount();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const write = useWrite<Zone>("/zones");
  const domain = domainIn(name);
  const below = domain.startsWith("www.") && domain.includes(".", 4) ? domain.slice(4) : undefined;
  const submit = (): void => {
    const body = { name: domain, ...(account ? { account: { id: account.id } } : {}) };
    write.mutate(
      { method: "POST", path: "/zones", body },
      { onSuccess: ({ result }) => void navigate({ to: "/zones/$zone", params: { zone: result.name } }) },
    );
  };
  return (
    <FormDialog title="Add a zone" onClose={onClose} submit="Add the zone" onSubmit={submit} isPending={write.isPending}>
      <TextInput
        label="Domain"
        description="The name that you have registered, such as shop.example. Names below it are its records."
        placeholder="shop.example"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        required
        data-autofocus
        autoComplete="off"
        spellCheck={false}
      />
      {below !== undefined && (
        <Notice tone="accent" title={`“www.” is usually a record of ${below}`}>
          <button type="button" className={tools["pick"]} onClick={() => setName(below)}>
            Use {below}
          </button>
        </Notice>
      )}
    </FormDialog>
  );
}
