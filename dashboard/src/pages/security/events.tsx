import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SecurityEvent } from "#model/events/security-event.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { secondsAgo } from "../../api/now.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Chip, Empty, Failed, Loading, PageHead, type Tone } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { useTyped } from "../../parts/use-typed.ts";
import { ZoneGate } from "../start/zone-gate.tsx";
import { Tops } from "./tops.tsx";

export const EventsPage = () => <ZoneGate>{(zone) => <Events zone={zone} />}</ZoneGate>;

export const TONES: Readonly<Record<string, Tone>> = {
  block: "bad",
  log: "plain",
  skip: "good",
  managed_challenge: "warn",
  js_challenge: "warn",
  challenge: "warn",
};
const SECONDS: Readonly<Record<string, number>> = { "1h": 3600, "24h": 86_400, "7d": 604_800 };
const CHIPS = ["action", "rule_id", "client_ip", "country", "host", "path", "service"] as const;
const NAMES: Readonly<Record<(typeof CHIPS)[number], string>> = {
  action: "Action",
  rule_id: "Rule",
  client_ip: "Address",
  country: "Country",
  host: "Host",
  path: "Path",
  service: "Service",
};

function Events({ zone }: { readonly zone: Zone }) {
  const [search, go] = useAddress();
  const { time = "24h" } = search;
  const [typed, setTyped] = useTyped(search["path.contains"], (text) => go({ "path.contains": text }, { replace: true }));
  const since = secondsAgo(SECONDS[time] ?? 86_400).slice(0, 16);
  const query = new URLSearchParams({ per_page: "100", since: `${since}:00Z` });
  for (const name of [...CHIPS, "path.contains"]) if (search[name] !== undefined) query.set(name, search[name]);
  const read = useRead<SecurityEvent[]>(`/zones/${zone.id}/security/events?${query.toString()}`, { keepsPrevious: true });
  const chips = CHIPS.filter((name) => search[name] !== undefined);
  return (
    <>
      <PageHead title="Security events" lead="Actions that rules took. Open an event to see why.">
        <Choice
          label="Time"
          isQuiet
          value={time}
          options={[
            ["1h", "Last hour"],
            ["24h", "Last 24 hours"],
            ["7d", "Last 7 days"],
          ]}
          onChange={(value) => go({ time: value })}
        />
      </PageHead>
      <Tops zoneId={zone.id} since={`${since}:00Z`} onPick={(name, value) => go({ [name]: value })} />
      <div className={tools["tools"]}>
        <TextInput
          data-search
          size="xs"
          className={tools["find"]}
          placeholder="Part of a path"
          aria-label="Search paths"
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        {chips.map((name) => (
          <Chip key={name} name={NAMES[name]} value={search[name] ?? ""} onRemove={() => go({ [name]: undefined })} />
        ))}
      </div>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={chips.length > 0 ? "No event matches these filters" : "No rule has acted in this time"}>
            {chips.length > 0 && (
              <Button variant="default" onClick={() => go(Object.fromEntries(chips.map((name) => [name, undefined])))}>
                Remove all filters
              </Button>
            )}
          </Empty>
        ) : (
          <List<SecurityEvent>
            label="Security events"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Time",
                width: "90px",
                cell: ({ occurred_at, id }) => (
                  <Link to="/zones/$zone/security/events/$event" params={{ zone: zone.name, event: id }} search={{ at: occurred_at }}>
                    <Time of={occurred_at} as="exact" />
                  </Link>
                ),
              },
              {
                head: "Action",
                width: "110px",
                cell: ({ action }) => <Badge tone={TONES[action] ?? "plain"}>{action.replaceAll("_", " ")}</Badge>,
              },
              { head: "Rule", width: "auto", cell: ({ rule_description, rule_id }) => rule_description || rule_id },
              { head: "Request", width: "auto", cell: ({ method, host, path }) => `${method} ${host}${path}` },
              {
                head: "From",
                width: "150px",
                isMinor: true,
                cell: ({ client_ip, country }) => `${client_ip}${country === "" ? "" : ` (${country})`}`,
              },
            ]}
          />
        )}
      </Card>
    </>
  );
}
