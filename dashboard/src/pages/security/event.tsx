import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Facts, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { TONES } from "./events.tsx";

export const EventPage = () => <ZoneGate>{(zone) => <EventOf zone={zone} />}</ZoneGate>;

type Match = SecurityEvent["matches"][number];

/** Why a rule did something to a request, and the narrowest way to let such requests pass. */
function EventOf({ zone }: { readonly zone: Zone }) {
  const { event: id } = useParams({ strict: false }) as { event: string };
  const [{ at }] = useAddress();
  const navigate = useNavigate();
  const around = Date.parse(at ?? "");
  const span = Number.isNaN(around) ? "" : `&since=${new Date(around - 1000).toISOString()}&until=${new Date(around + 1000).toISOString()}`;
  const read = useRead<SecurityEvent[]>(`/zones/${zone.id}/security/events?per_page=1000${span}`);
  const event = read.data?.result.find((one) => one.id === id);
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data)
    return (
      <div className={tools["inset"]}>
        <Loading />
      </div>
    );
  if (!event)
    return (
      <Empty title="This event is not kept any more">
        <Link className={tools["link"]} to="/zones/$zone/security/events" params={{ zone: zone.name }}>
          All events
        </Link>
      </Empty>
    );
  const rule = event.rule_description || event.rule_id;
  return (
    <>
      <PageHead
        title={`${WORDS[event.action] ?? event.action} “${rule}”`}
        lead={
          <>
            {event.method} {event.host}
            {event.path} from {event.client_ip}, <Time of={event.occurred_at} />
          </>
        }
      >
        <Button
          onClick={() =>
            void navigate({
              to: "/zones/$zone/security/rules",
              params: { zone: zone.name },
              search: { except: exceptionFor(event), phase: event.phase } as never,
            })
          }
        >
          Make an exception
        </Button>
      </PageHead>
      <div className={tools["wide"]}>
        <div>
          <Card title="The request">
            <Facts
              of={[
                ["Method", event.method],
                ["Address", `${event.scheme}://${event.host}${event.path}`],
                [
                  "Query",
                  <span key="q" className="mono">
                    {event.query || "none"}
                  </span>,
                ],
                ["User agent", event.user_agent || "none"],
                ["From", `${event.client_ip}${event.country === "" ? "" : `, ${event.country}`}`],
                ["Answer", String(event.status)],
                [
                  "Ray ID",
                  <span key="r" className="mono">
                    {event.ray_id}
                  </span>,
                ],
              ]}
            />
          </Card>
          {event.matches.length > 0 && (
            <Card title="Matched parts">
              <List<Match>
                label="Matches"
                rows={event.matches}
                keyOf={({ rule_id }, index) => `${rule_id} ${index}`}
                columns={[
                  { head: "Detector", width: "auto", cell: ({ detector }) => detector },
                  { head: "Rule", width: "auto", cell: ({ rule_id }) => <span className="mono">{rule_id}</span> },
                  { head: "Times", width: "70px", isFigure: true, cell: (match) => match.count },
                  {
                    head: "Part, as stored",
                    width: "auto",
                    isMinor: true,
                    cell: ({ sample, json_path }) => <span className="mono">{sample ?? json_path ?? "–"}</span>,
                  },
                ]}
              />
            </Card>
          )}
        </div>
        <div>
          <Card title="The rule">
            <Facts
              of={[
                [
                  "Action",
                  <Badge key="a" tone={TONES[event.action] ?? "plain"}>
                    {event.action.replaceAll("_", " ")}
                  </Badge>,
                ],
                ["Rule", rule],
                ["Service", event.service],
                ["Phase", event.phase],
                [
                  "Rule ID",
                  <span key="i" className="mono">
                    {event.rule_id}
                  </span>,
                ],
                [
                  "Ruleset ID",
                  <span key="s" className="mono">
                    {event.ruleset_id}
                  </span>,
                ],
                ["Executed by", event.deployed_by || "itself"],
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  block: "Blocked by",
  log: "Noted by",
  managed_challenge: "Challenged by",
  js_challenge: "Challenged by",
  challenge: "Challenged by",
  skip: "Let through by",
};

const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** This host, this path and this method. */
const exceptionFor = ({ host, path, method }: SecurityEvent): string =>
  `http.host eq ${quoted(host)} and http.request.uri.path eq ${quoted(path)} and http.request.method eq ${quoted(method)}`;
