import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { Tunnel } from "#model/tunnels/tunnel.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { CopyRecord } from "../../parts/copy-record.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Actions, Dialog } from "../../parts/dialogs/modal.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { targetOf } from "./tunnel-words.ts";

interface Props {
  readonly tunnel: Tunnel;
  readonly hostname: string;
  readonly onClose: () => void;
}

/** Proposes the DNS record that leads a name to the tunnel, and adds it to the zone of the name. */
export function RouteName({ tunnel, hostname, onClose }: Props) {
  const [name, setName] = useState(hostname);
  const target = targetOf(tunnel);
  const write = useMutation({ mutationFn: (asked: string) => route(asked, tunnel.account_tag, target) });
  const submit = (): void => {
    write.mutate(nameOf(name));
  };
  if (write.data)
    return (
      <Dialog title="Routed" onClose={onClose}>
        <div className={tools["form"]}>
          <Notice tone="good">{write.data.record} leads to this tunnel now.</Notice>
          <p className={tools["hint"]}>
            The record is in{" "}
            <Link
              to="/zones/$zone/dns/records"
              params={{ zone: write.data.zone }}
              search={{ search: write.data.record }}
              className={tools["link"]}
            >
              {write.data.zone}
            </Link>
            . Requests go on by the rules of this tunnel.
          </p>
          <Actions>
            <Button onClick={onClose}>Done</Button>
          </Actions>
        </div>
      </Dialog>
    );
  return (
    <FormDialog
      title="Route a name to this tunnel"
      onClose={onClose}
      size={560}
      submit="Add the record"
      onSubmit={submit}
      isPending={write.isPending}
    >
      <TextInput
        label="Name"
        description="In a zone of this account."
        placeholder="app.example.com"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={write.error && <Fault error={write.error} />}
        autoComplete="off"
        spellCheck={false}
        required
        data-autofocus
      />
      <div className={tools["stack"]}>
        <p className={tools["hint"]}>Adds this record, proxied, so that visitors reach the edge and the edge the tunnel:</p>
        <CopyRecord type="CNAME" name={nameOf(name) || "–"} value={target} />
      </div>
    </FormDialog>
  );
}

const nameOf = (text: string): string => text.trim().toLowerCase().replace(/\.$/, "");

async function route(name: string, account: string, content: string): Promise<{ readonly zone: string; readonly record: string }> {
  const zone = await zoneOf(name, account);
  if (!zone) throw new Error(`No zone of this account has the name ${name}. Add its zone first.`);
  const body = { type: "CNAME", name, content, proxied: true, ttl: 1 };
  const { result } = await api<DnsRecord>("POST", `/zones/${zone.id}/dns_records`, body);
  return { zone: zone.name, record: result.name };
}

/** The zone with the longest name that ends this one. */
async function zoneOf(name: string, account: string): Promise<Zone | undefined> {
  const labels = name.split(".");
  for (const at of labels.keys()) {
    const suffix = labels.slice(at).join(".");
    if (suffix === "" || suffix.startsWith("*") || at === labels.length - 1) continue;
    const { result } = await api<Zone[]>("GET", `/zones?name=${encodeURIComponent(suffix)}`, undefined, { isShown: false });
    const found = result.find((zone) => zone.account.id === account);
    if (found) return found;
  }
  return undefined;
}
