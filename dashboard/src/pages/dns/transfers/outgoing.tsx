import { Button } from "@mantine/core";
import type { OutgoingTransfer } from "#model/dns/zone-transfer.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Badge, Card, Facts, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { PickPeers } from "./pick-peers.tsx";
import { useTransfer } from "./use-transfer.ts";

/** The copies of a zone that other nameservers have. */
export function Outgoing({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}/secondary_dns`;
  const { data, error } = useTransfer<OutgoingTransfer>(`${base}/outgoing`);
  const status = useRead<string>(data ? `${base}/outgoing/status` : undefined);
  const write = useWrite<string>(base);
  const run = (operation: "enable" | "disable" | "force_notify"): void =>
    write.mutate({ method: "POST", path: `${base}/outgoing/${operation}` });
  const isOn = status.data?.result === "Enabled";
  if (error)
    return (
      <Card title="To secondaries">
        <Failed error={error} />
      </Card>
    );
  return (
    <>
      <Card title="To secondaries" aside={status.data && <Badge tone={isOn ? "good" : "plain"}>{isOn ? "on" : "off"}</Badge>}>
        {data === undefined ? (
          <Loading />
        ) : data === null ? (
          <p className={tools["hint"]}>No other server gets this zone. Choose below which ones may.</p>
        ) : (
          <div className={tools["stack"]}>
            {write.error && (
              <Notice tone="bad">
                <Fault error={write.error} />
              </Notice>
            )}
            <Facts
              of={[
                [
                  "Serial",
                  <span key="s" className="num">
                    {data.soa_serial}
                  </span>,
                ],
              ]}
            />
            <div className={tools["row"]}>
              <Button variant="default" onClick={() => run(isOn ? "disable" : "enable")}>
                {isOn ? "Turn off" : "Turn on"}
              </Button>
              <Button variant="default" disabled={!isOn} onClick={() => run("force_notify")}>
                Notify the secondaries now
              </Button>
            </div>
          </div>
        )}
      </Card>
      {data !== undefined && <PickPeers zone={zone} direction="outgoing" picked={data?.peers} title="Secondaries" />}
    </>
  );
}
