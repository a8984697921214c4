import { Button } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite, useZone } from "../../api/hooks.ts";
import { useTimeRange } from "../../api/time-range.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Facts, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { isInternational, shownName } from "../../api/names.ts";
import { Time } from "../../parts/time.tsx";
import { TimePicker } from "../../parts/time-picker.tsx";
import tools from "../../parts/tools.module.css";
import { Traffic, TrafficTops } from "../traffic/traffic.tsx";
import { Checklist, useSteps } from "./checklist.tsx";
import { ZoneGate } from "./zone-gate.tsx";

interface Pack {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly status: string;
  readonly certificates?: readonly { readonly expires_on?: string }[];
}

export const ZonePage = () => <ZoneGate>{(zone) => <Overview zone={zone} />}</ZoneGate>;

function Overview({ zone }: { readonly zone: Zone }) {
  const { read } = useZone();
  const navigate = useNavigate();
  const check = useWrite<{ id: string }>("/zones");
  const remove = useWrite<{ id: string }>("/zones");
  const [isRemoving, setRemoving] = useState(false);
  const packs = useRead<Pack[]>(`/zones/${zone.id}/ssl/certificate_packs`);
  const range = useTimeRange();
  const steps = useSteps(zone);
  const isOpen = steps.some(({ isDone }) => isDone === false);
  const hasTraffic = steps.at(-1)?.isDone === true;
  const scope = { kind: "zones", id: zone.id } as const;
  return (
    <>
      <PageHead
        title={shownName(zone.name)}
        lead={isInternational(zone.name) ? `${zone.name} in DNS. ${SENTENCES[zone.status]}` : SENTENCES[zone.status]}
      >
        {zone.status !== "active" && (
          <Button
            variant="default"
            loading={check.isPending}
            loaderProps={{ type: "dots" }}
            onClick={() =>
              check.mutate({ method: "PUT", path: `/zones/${zone.id}/activation_check` }, { onSettled: () => void read.refetch() })
            }
          >
            Look again now
          </Button>
        )}
        {hasTraffic && <TimePicker range={range} />}
      </PageHead>
      {check.error && (
        <div className={tools["inset"]}>
          <Notice tone="warn">
            <Fault error={check.error} />
          </Notice>
        </div>
      )}
      {hasTraffic && (
        <>
          <Traffic scope={scope} range={range} />
          <TrafficTops scope={scope} range={range} zone={zone.name} />
        </>
      )}
      <div className={tools["wide"]}>
        <div>
          <Card title="Name servers">
            <div className={tools["stack"]}>
              <p className={tools["hint"]}>
                {zone.status === "active"
                  ? "The registrar of the domain has to name these, so that the world asks this server."
                  : "Enter these at the registrar of the domain, in place of those that are there. We look every few minutes."}
              </p>
              {zone.name_servers.some((name) => name.endsWith(".selvedge.internal")) && (
                <Notice tone="warn" title="These names are examples">
                  No registrar accepts them. Set <code>dns.name_servers</code> to host names that point to this server.
                </Notice>
              )}
              <CopyBlock label="the name servers" text={zone.name_servers.join("\n")} />
              {zone.verification_key !== undefined && (
                <>
                  <p className={tools["hint"]}>Or prove that the domain is yours by this TXT record where it is served now:</p>
                  <CopyBlock label="the TXT record" text={`${zone.name}. TXT "${zone.verification_key}"`} />
                </>
              )}
            </div>
          </Card>
          <Card title="Certificates">
            {packs.error && !packs.data ? (
              <Failed error={packs.error} onAgain={() => void packs.refetch()} />
            ) : !packs.data ? (
              <Loading />
            ) : packs.data.result.length > 0 ? (
              <List<Pack>
                label="Certificates"
                rows={packs.data.result}
                keyOf={({ id }) => id}
                columns={[
                  { head: "Covers", width: "auto", cell: ({ hosts }) => hosts.join(", ") },
                  {
                    head: "Status",
                    width: "150px",
                    cell: ({ status }) => <Badge tone={status === "active" ? "good" : "warn"}>{status.replaceAll("_", " ")}</Badge>,
                  },
                  {
                    head: "Until",
                    width: "100px",
                    isMinor: true,
                    cell: ({ certificates }) => <Time of={certificates?.[0]?.expires_on} as="day" />,
                  },
                ]}
              />
            ) : (
              <p className={tools["quiet"]}>None yet. One is ordered by itself once a record goes through the edge.</p>
            )}
          </Card>
        </div>
        <div>
          {isOpen && (
            <Card title="First steps">
              <Checklist zone={zone} />
            </Card>
          )}
          <Card
            title="Facts"
            aside={
              <Button variant="subtle" color="red" onClick={() => setRemoving(true)}>
                Delete the zone
              </Button>
            }
          >
            <Facts
              of={[
                [
                  "Status",
                  <Badge key="s" tone={zone.status === "active" ? "good" : "warn"}>
                    {zone.status}
                  </Badge>,
                ],
                ["Type", zone.type],
                ["Plan", zone.plan.name],
                [
                  "Zone ID",
                  <span key="i" className="mono">
                    {zone.id}
                  </span>,
                ],
                ["Added", <Time key="t" of={zone.created_on} />],
                [
                  "DNSSEC",
                  <Link key="d" className={tools["link"]} to="/zones/$zone/dns/dnssec" params={{ zone: zone.name }}>
                    See and turn on
                  </Link>,
                ],
              ]}
            />
          </Card>
        </div>
      </div>
      {isRemoving && (
        <Confirm
          title={`Delete ${zone.name}?`}
          action="Delete the zone"
          typed={zone.name}
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(false)}
          onConfirm={() =>
            remove.mutate({ method: "DELETE", path: `/zones/${zone.id}` }, { onSuccess: () => void navigate({ to: "/zones" }) })
          }
        >
          Its records, rules, certificates and custom hostnames go with it, at once and for good. Visitors get no answer any more.
        </Confirm>
      )}
    </>
  );
}

const SENTENCES: Readonly<Record<Zone["status"], string>> = {
  active: "Active: this server answers for the domain.",
  pending: "Waiting for the registrar to name this server's name servers.",
  initializing: "Being set up.",
  moved: "The domain's registrar names other name servers now.",
};
