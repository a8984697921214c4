import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { RuleTrace } from "#model/rulesets/rule-trace.ts";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { countryName } from "../../api/countries.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Facts, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { EventException } from "./event-exception.tsx";
import { TONES } from "./events.tsx";
import { partName, phaseTitle } from "./parts.ts";
import { TraceResult } from "./trace-result.tsx";

export const EventPage = () => <ZoneGate>{(zone) => <EventOf zone={zone} />}</ZoneGate>;

type Match = SecurityEvent["matches"][number];

/** Why a rule did something to a request, and the narrowest way to let such requests pass. */
function EventOf({ zone }: { readonly zone: Zone }) {
  const { event: id } = useParams({ strict: false }) as { event: string };
  const [{ at, allow }, go] = useAddress();
  const around = Date.parse(at ?? "");
  const span = Number.isNaN(around) ? "" : `&since=${new Date(around - 1000).toISOString()}&until=${new Date(around + 1000).toISOString()}`;
  const read = useRead<SecurityEvent[]>(`/zones/${zone.id}/security/events?per_page=1000${span}`);
  const event = read.data?.result.find((one) => one.id === id);
  const trace = useMutation({
    mutationFn: ({ scheme, host, path, query, method, client_ip, user_agent }: SecurityEvent) =>
      api<RuleTrace>("POST", `/zones/${zone.id}/rulesets/trace`, {
        url: `${scheme}://${host}${path}${query === "" ? "" : `?${query}`}`,
        method,
        ip: client_ip,
        headers: user_agent === "" ? {} : { "user-agent": user_agent },
      }),
  });
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data) return <Loading isPage />;
  if (!event)
    return (
      <Empty isPage title="This event is not kept any more">
        <Link className={tools["link"]} to="/zones/$zone/security/events" params={{ zone: zone.name }}>
          All events
        </Link>
      </Empty>
    );
  const rule = event.rule_description || "Rule without a name";
  const open = (): void => {
    go({ allow: "1" });
    focusMain();
  };
  const saved = (): void => {
    go({ allow: "saved" }, { replace: true });
    focusMain();
    trace.mutate(event);
  };
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
        <Button variant="default" loading={trace.isPending} loaderProps={{ type: "dots" }} onClick={() => trace.mutate(event)}>
          Try it again
        </Button>
        {event.action !== "skip" && allow === undefined && <Button onClick={open}>Allow this</Button>}
      </PageHead>
      {allow === "saved" && (
        <div className={tools["inset"]}>
          <Notice tone="good" title="The exception is saved">
            It is in force. Below is the result of the same request now.
          </Notice>
        </div>
      )}
      <div className={tools["wide"]}>
        <div>
          {allow === "1" && <EventException zone={zone} event={event} onClose={() => go({ allow: undefined })} onSaved={saved} />}
          {(trace.data || trace.error) && (
            <Card title="The same request now">
              {trace.error ? <Fault error={trace.error} /> : trace.data && <TraceResult trace={trace.data.result} />}
              <p className={tools["quiet"]}>Bodies and most headers are not kept, so they were left out.</p>
            </Card>
          )}
          <Why zone={zone} event={event} />
          <Card title="The request">
            <Facts
              of={[
                ["Address", `${event.method} ${event.scheme}://${event.host}${event.path}`],
                [
                  "Query",
                  <span key="q" className="mono">
                    {event.query || "none"}
                  </span>,
                ],
                ["User agent", event.user_agent || "none"],
                ["From", `${event.client_ip}${event.country === "" ? "" : `, ${countryName(event.country)}`}`],
                ["Answer", String(event.status)],
                [
                  "Ray ID",
                  <Link
                    key="r"
                    className={tools["link"]}
                    to="/zones/$zone/traffic"
                    params={{ zone: zone.name }}
                    search={{ ray_id: event.ray_id }}
                  >
                    {event.ray_id}
                  </Link>,
                ],
              ]}
            />
          </Card>
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
                [
                  "Where",
                  <Link
                    key="w"
                    className={tools["link"]}
                    to={PLACES[event.phase] ?? "/zones/$zone/security/rules"}
                    params={{ zone: zone.name }}
                    search={PLACES[event.phase] === undefined ? { phase: event.phase } : {}}
                  >
                    {phaseTitle(event.phase)}
                  </Link>,
                ],
                ["Service", event.service],
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
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

/** Before the button that has the focus leaves the page. */
const focusMain = (): void => document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });

const PLACES: Readonly<Record<string, "/zones/$zone/security/managed">> = {
  http_request_firewall_managed: "/zones/$zone/security/managed",
  http_response_firewall_managed: "/zones/$zone/security/managed",
};

/** The rule as it is, or the parts in which managed rules found something, with the score of each. */
function Why({ zone, event }: { readonly zone: Zone; readonly event: SecurityEvent }) {
  const { matches, ruleset_id, rule_id } = event;
  const ruleset = useRead<Ruleset>(`/zones/${zone.id}/rulesets/${ruleset_id}`);
  const rules = ruleset.data?.result.rules ?? [];
  const ruleOf = (id: string) => rules.find((rule) => rule.id === id);
  const scores = matches.flatMap(({ score }) => (score === undefined ? [] : [score]));
  const total = scores.reduce((sum, score) => sum + score, 0);
  const threshold = ruleOf(rule_id)?.score_threshold;
  const expression = ruleOf(rule_id)?.expression;
  return (
    <Card title="Why">
      <div className={tools["stack"]}>
        {scores.length > 1 && (
          <p>
            Score <b className="num">{total}</b> = <span className="num">{scores.join(" + ")}</span>
            {threshold !== undefined && ` in these parts; it acts from ${threshold} on, unless an override says otherwise.`}
          </p>
        )}
        {matches.length > 0 ? (
          <List<Match>
            label="Matches"
            rows={matches}
            keyOf={({ rule_id: of, part, name }, index) => `${of} ${part} ${name} ${index}`}
            columns={[
              { head: "Rule", width: "auto", cell: ({ rule_id: of, detector }) => ruleOf(of)?.description || detector || of },
              {
                head: "Found in",
                width: "auto",
                cell: ({ part, name, json_path }) => (
                  <>
                    {partName(part ?? json_path)} {name !== undefined && name !== "" && <b>{name}</b>}
                  </>
                ),
              },
              {
                head: "Value",
                width: "auto",
                isMinor: true,
                cell: ({ sample, matched_data }) =>
                  sample === undefined && matched_data === undefined ? (
                    <span className={tools["quiet"]}>not stored</span>
                  ) : (
                    <span className="mono">{sample ?? matched_data}</span>
                  ),
              },
              { head: "Found", width: "60px", isFigure: true, isMinor: true, cell: (match) => match.count },
              ...(scores.length > 0
                ? [{ head: "Score", width: "60px", isFigure: true, cell: ({ score }: Match) => score ?? "–" } as const]
                : []),
            ]}
          />
        ) : expression !== undefined ? (
          <>
            <p className={tools["hint"]}>The request matches the rule's expression, as it is today:</p>
            <pre className={tools["code"]}>{expression}</pre>
          </>
        ) : (
          <p className={tools["quiet"]}>
            {ruleset.isPending ? "…" : "The rule that matched is not there any more; its identifier and name are kept with the event."}
          </p>
        )}
        {matches.some(({ sample, matched_data }) => sample === undefined && matched_data === undefined) && (
          <p className={tools["hint"]}>
            Values are stored only for rules with a public key in <code>matched_data</code>, so that only you can read them.
          </p>
        )}
      </div>
    </Card>
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
