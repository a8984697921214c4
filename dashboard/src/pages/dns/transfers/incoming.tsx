import { Button } from "@mantine/core";
import type { IncomingTransfer } from "#model/dns/zone-transfer.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../../api/hooks.ts";
import { Badge, Card, Facts, Failed, Fault, Loading, Notice, type Tone } from "../../../parts/page.tsx";
import { duration, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { PickPeers } from "./pick-peers.tsx";
import { useTransfer } from "./use-transfer.ts";

const STATES: Readonly<Record<IncomingTransfer["status"], readonly [string, Tone]>> = {
  ok: ["up to date", "good"],
  pending: ["not transferred yet", "warn"],
  failing: ["the last check failed; the copy from before is served", "warn"],
  expired: ["expired; the nameserver does not answer from it", "bad"],
  inactive: ["off", "plain"],
};

/** The copy of a zone whose records are kept elsewhere. */
export function Incoming({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}/secondary_dns`;
  const { data, error } = useTransfer<IncomingTransfer>(`${base}/incoming`);
  const fetchNow = useWrite<string>(base);
  if (error)
    return (
      <Card title="From the primary">
        <Failed error={error} />
      </Card>
    );
  const [words, tone] = STATES[data?.status ?? "inactive"];
  return (
    <>
      <Card title="From the primary" aside={data && <Badge tone={tone}>{words}</Badge>}>
        {data === undefined ? (
          <Loading />
        ) : data === null ? (
          <p className={tools["hint"]}>No primary is configured. Choose below from which server this zone is copied.</p>
        ) : (
          <div className={tools["stack"]}>
            {data.last_error !== null && <Notice tone="bad">{data.last_error}</Notice>}
            {fetchNow.error && (
              <Notice tone="bad">
                <Fault error={fetchNow.error} />
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
                ["Transferred", <Time key="t" of={data.transferred_time} />],
                ["By", data.transfer_method ?? "–"],
                ["Checked", <Time key="c" of={data.checked_time} />],
                ["Next check", <Time key="n" of={data.next_check_time} />],
                ["Expires", <Time key="e" of={data.expires_time} />],
                ["Checks at least", `every ${duration(data.auto_refresh_seconds)}`],
              ]}
            />
            <div className={tools["row"]}>
              <Button
                variant="default"
                loading={fetchNow.isPending}
                loaderProps={{ type: "dots" }}
                onClick={() => fetchNow.mutate({ method: "POST", path: `${base}/force_axfr` })}
              >
                Fetch the zone now
              </Button>
            </div>
          </div>
        )}
      </Card>
      {data !== undefined && <PickPeers zone={zone} direction="incoming" picked={data?.peers} title="Primaries" />}
    </>
  );
}
