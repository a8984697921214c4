import { Button } from "@mantine/core";
import { useState } from "react";
import type { TransferPeer } from "#model/dns/zone-transfer.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Card, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

interface PickProps {
  readonly zone: Zone;
  readonly direction: "incoming" | "outgoing";
  /** Ids; undefined if the direction is not configured. */
  readonly picked: readonly string[] | undefined;
  readonly title: string;
}

/** Which of the account's other nameservers the zone is copied from or to. */
export function PickPeers({ zone, direction, picked, title }: PickProps) {
  const peers = useRead<TransferPeer[]>(`/accounts/${zone.account.id}/secondary_dns/peers`);
  const base = `/zones/${zone.id}/secondary_dns`;
  const write = useWrite<{ id: string }>(base);
  const [edited, setEdited] = useState<ReadonlySet<string>>();
  const chosen = edited ?? new Set(picked);
  const turn = (id: string): void => setEdited(new Set(chosen.has(id) ? [...chosen].filter((one) => one !== id) : [...chosen, id]));
  const save = (): void => {
    const path = `${base}/${direction}`;
    const change =
      picked === undefined
        ? { method: "POST" as const, path, body: { name: zone.name, peers: [...chosen] } }
        : chosen.size === 0
          ? { method: "DELETE" as const, path }
          : { method: "PUT" as const, path, body: { name: zone.name, peers: [...chosen] } };
    write.mutate(change, { onSuccess: () => setEdited(undefined) });
  };
  return (
    <Card title={title}>
      {peers.error ? (
        <Failed error={peers.error} onAgain={() => void peers.refetch()} />
      ) : !peers.data ? (
        <Loading />
      ) : peers.data.result.length === 0 ? (
        <p className={tools["quiet"]}>The account has no other nameservers yet. Add one below.</p>
      ) : (
        <div className={tools["stack"]}>
          <div className={tools["checks"]}>
            {peers.data.result.map(({ id, name, ip, port }) => (
              <label key={id}>
                <input type="checkbox" checked={chosen.has(id)} onChange={() => turn(id)} /> {name}{" "}
                <span className={tools["quiet"]}>{ip === undefined ? "no address" : `${ip}, port ${port}`}</span>
              </label>
            ))}
          </div>
          {write.error && (
            <Notice tone="bad">
              <Fault error={write.error} />
            </Notice>
          )}
          <div className={tools["row"]}>
            <Button
              disabled={edited === undefined || (picked === undefined && chosen.size === 0)}
              loading={write.isPending}
              loaderProps={{ type: "dots" }}
              onClick={save}
            >
              Save
            </Button>
          </div>
        </div>
      )}
    </Card>
  );
}
