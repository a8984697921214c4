import { Link, useParams } from "@tanstack/react-router";
import type { LoggedRequest } from "#model/events/request-log.ts";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { countryName } from "../../api/countries.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Facts, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { bytes, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { TONES } from "../security/events.tsx";
import { phaseTitle } from "../security/parts.ts";
import { ZoneGate } from "../start/zone-gate.tsx";

export const RequestPage = () => <ZoneGate>{(zone) => <RequestOf zone={zone} />}</ZoneGate>;

/** One request: what was asked and answered, and each rule that did something to it. */
function RequestOf({ zone }: { readonly zone: Zone }) {
  const { ray = "" } = useParams({ strict: false }) as { ray?: string };
  const query = `ray_id=${encodeURIComponent(ray)}`;
  const read = useRead<LoggedRequest[]>(`/zones/${zone.id}/logs/requests?${query}`);
  const events = useRead<SecurityEvent[]>(`/zones/${zone.id}/security/events?${query}&per_page=100`);
  const request = read.data?.result[0];
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data)
    return (
      <div className={tools["inset"]}>
        <Loading />
      </div>
    );
  if (!request)
    return (
      <Empty isPage title={`No request with the ray id ${ray} is kept`}>
        <Link className={tools["link"]} to="/zones/$zone/traffic" params={{ zone: zone.name }} search={{}}>
          All requests
        </Link>
      </Empty>
    );
  const { status } = request;
  return (
    <>
      <PageHead
        title={`${request.method} ${request.host}${request.path}`}
        lead={
          <>
            <Badge tone={status < 400 ? "good" : status < 500 ? "warn" : "bad"}>{status}</Badge> <Time of={request.occurred_at} /> from{" "}
            {request.client_ip}
          </>
        }
      />
      <Card title="Request">
        <Facts
          of={[
            ["Address", `${request.scheme}://${request.host}${request.path}${request.query === "" ? "" : `?${request.query}`}`],
            [
              "From",
              <span key="f">
                <Link
                  className={tools["link"]}
                  to="/zones/$zone/traffic"
                  params={{ zone: zone.name }}
                  search={{ client_ip: request.client_ip }}
                  title="All requests from this address"
                >
                  {request.client_ip}
                </Link>
                {request.country === "" ? "" : `, ${countryName(request.country)}`}
              </span>,
            ],
            ["User agent", request.user_agent || "none"],
            ["Received", bytes(request.bytes_in)],
            [
              "Ray id",
              <span key="r" className="mono">
                {request.ray_id}
              </span>,
            ],
          ]}
        />
      </Card>
      <Card title="Rules that matched">
        {events.error ? (
          <Failed error={events.error} onAgain={() => void events.refetch()} />
        ) : !events.data ? (
          <Loading />
        ) : events.data.result.length === 0 ? (
          <p className={tools["quiet"]}>No security rule matched.</p>
        ) : (
          <List<SecurityEvent>
            label="Rules that matched"
            rows={events.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Phase", width: "auto", cell: ({ phase }) => phaseTitle(phase) },
              {
                head: "Rule",
                width: "auto",
                cell: ({ id, occurred_at, rule_description, rule_id }) => (
                  <Link
                    className={tools["link"]}
                    to="/zones/$zone/security/events/$event"
                    params={{ zone: zone.name, event: id }}
                    search={{ at: occurred_at }}
                  >
                    {rule_description || rule_id}
                  </Link>
                ),
              },
              {
                head: "Action",
                width: "130px",
                cell: ({ action }) => <Badge tone={TONES[action] ?? "plain"}>{action.replaceAll("_", " ")}</Badge>,
              },
            ]}
          />
        )}
      </Card>
      <Card title="Answer">
        <Facts
          of={[
            ["Status", String(status)],
            ["Status of the origin", request.origin_status === null ? "the origin was not asked" : String(request.origin_status)],
            ["Cache", request.cache_status === "" ? "not used" : request.cache_status],
            ...(request.edge_error === ""
              ? []
              : [["Error of the edge", `${request.edge_error} ${request.edge_error_name}`.trim()] as const]),
            ["Sent", bytes(request.bytes_out)],
            ["Time", `${request.duration_ms.toFixed(1)} ms`],
          ]}
        />
      </Card>
    </>
  );
}
