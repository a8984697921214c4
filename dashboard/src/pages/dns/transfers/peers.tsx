import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { TransferPeer, TransferTsig } from "#model/dns/zone-transfer.ts";
import { ApiError } from "../../../api/client.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Choice } from "../../../parts/choice.tsx";
import { List } from "../../../parts/list.tsx";
import { Card, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

/** The account's other nameservers: primaries and secondaries of its zones. */
export function Peers({ accountId }: { readonly accountId: string }) {
  const base = `/accounts/${accountId}/secondary_dns`;
  const peers = useRead<TransferPeer[]>(`${base}/peers`);
  const keys = useRead<TransferTsig[]>(`${base}/tsigs`);
  const remove = useWrite<{ id: string }>(`${base}/peers`);
  const keyName = (id: string | undefined): string =>
    id === undefined ? "none" : (keys.data?.result.find((key) => key.id === id)?.name ?? id);
  return (
    <Card title="Other nameservers of the account">
      <div className={tools["stack"]}>
        {remove.error && (
          <Notice tone="bad">
            <Fault error={remove.error} />
          </Notice>
        )}
        {peers.error ? (
          <Failed error={peers.error} onAgain={() => void peers.refetch()} />
        ) : !peers.data ? (
          <Loading />
        ) : (
          peers.data.result.length > 0 && (
            <List<TransferPeer>
              label="Other nameservers"
              rows={peers.data.result}
              keyOf={({ id }) => id}
              columns={[
                { head: "Name", width: "auto", cell: ({ name }) => <b>{name}</b> },
                { head: "Address", width: "auto", cell: ({ ip, port }) => (ip === undefined ? "none" : `${ip}, port ${port}`) },
                { head: "TSIG key", width: "auto", isMinor: true, cell: ({ tsig_id }) => keyName(tsig_id) },
                {
                  head: "Action",
                  width: "90px",
                  cell: ({ id, name }) => (
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Delete ${name}`}
                      onClick={() => remove.mutate({ method: "DELETE", path: `${base}/peers/${id}` })}
                    >
                      Delete
                    </Button>
                  ),
                },
              ]}
            />
          )
        )}
        <AddPeer base={base} keys={keys.data?.result ?? []} />
      </div>
    </Card>
  );
}

const EMPTY = { name: "", ip: "", port: "53", tsig: "" } as const;

function AddPeer({ base, keys }: { readonly base: string; readonly keys: readonly TransferTsig[] }) {
  const [values, setValues] = useState<Readonly<Record<keyof typeof EMPTY, string>>>(EMPTY);
  const write = useWrite<TransferPeer>(`${base}/peers`);
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = ["name", "ip", "port"].some((name) => faults[name] !== undefined);
  const edit = (name: keyof typeof EMPTY, value: string): void => setValues((old) => ({ ...old, [name]: value }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { name, ip, port, tsig } = values;
    const body = {
      name: name.trim(),
      ...(ip.trim() && { ip: ip.trim() }),
      // Anything else is sent as it is, so that the API says what is wrong with it.
      port: /^\d+$/.test(port) ? Number(port) : port,
      ...(tsig && { tsig_id: tsig }),
    };
    write.mutate({ method: "POST", path: `${base}/peers`, body }, { onSuccess: () => setValues(EMPTY) });
  };
  return (
    <form className={tools["form"]} onSubmit={submit}>
      <div className={tools["two"]}>
        <TextInput
          label="Name"
          value={values.name}
          error={faults["name"]?.message}
          onChange={({ currentTarget }) => edit("name", currentTarget.value)}
          required
        />
        <TextInput
          label="IP address"
          value={values.ip}
          error={faults["ip"]?.message}
          onChange={({ currentTarget }) => edit("ip", currentTarget.value)}
          spellCheck={false}
          required
        />
        <TextInput
          label="Port"
          value={values.port}
          error={faults["port"]?.message}
          inputMode="numeric"
          onChange={({ currentTarget }) => edit("port", currentTarget.value)}
        />
        <Choice
          label="TSIG key"
          value={values.tsig}
          options={[["", "none"], ...keys.map(({ id, name }) => [id, name] as const)]}
          onChange={(tsig) => edit("tsig", tsig)}
        />
      </div>
      {write.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
      <div className={tools["row"]}>
        <Button type="submit" variant="default" loading={write.isPending} loaderProps={{ type: "dots" }}>
          Add the nameserver
        </Button>
      </div>
    </form>
  );
}
