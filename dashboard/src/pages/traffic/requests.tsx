import { Link } from "@tanstack/react-router";
import type { LoggedRequest } from "#model/events/request-log.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useLiveList } from "../../api/live-list.ts";
import { useAddress } from "../../api/search.ts";
import { useTimeRange } from "../../api/time-range.ts";
import { Choice } from "../../parts/choice.tsx";
import { LeftOut, List } from "../../parts/list.tsx";
import { Badge, Card, Chip, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { TimePicker } from "../../parts/time-picker.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { ZoneGate } from "../start/zone-gate.tsx";
import { sinceUntil } from "./since-until.ts";

export const RequestsPage = () => <ZoneGate>{(zone) => <Requests zone={zone} />}</ZoneGate>;

const CHIPS = ["host", "path", "client_ip", "status", "country", "ray_id"] as const;

const keyOf = ({ ray_id: ray }: LoggedRequest): string => ray;

/** The edge's requests, newest first. Without a time, the page follows the server's stream of new requests. */
function Requests({ zone }: { readonly zone: Zone }) {
  const [search, go] = useAddress();
  const { live = "on" } = search;
  const range = useTimeRange();
  // Without a time the newest are shown, whatever their age.
  const isTimed = search["time"] !== undefined || range.span === "";
  const filter = new URLSearchParams();
  for (const name of [...CHIPS, "path.contains"]) if (search[name] !== undefined) filter.set(name, search[name]);
  const mode = isTimed ? "still" : live === "on" ? "followed" : "paused";
  const { read, rows, isOpen, leftOut } = useLiveList<LoggedRequest>({
    path: `/zones/${zone.id}/logs/requests`,
    event: "request",
    filter,
    only: [["per_page", "100"], ...(isTimed ? sinceUntil(range) : [])],
    mode,
    keyOf,
  });
  const pick = (name: (typeof CHIPS)[number], value: string) => (
    <button type="button" className={tools["pick"]} onClick={() => go({ [name]: value })}>
      {value}
    </button>
  );
  return (
    <>
      <PageHead title="Requests" lead="Requests that the edge answered, newest first.">
        {isTimed ? (
          <TimePicker range={range} />
        ) : (
          <Choice
            label="Live"
            isQuiet
            value={live}
            options={[
              ["on", mode === "followed" && !isOpen ? "Connecting" : "Live"],
              ["off", "Paused"],
            ]}
            onChange={(value) => go({ live: value === "on" ? undefined : value })}
          />
        )}
      </PageHead>
      <div className={tools["tools"]}>
        <SearchField
          label="Search paths"
          placeholder="Part of a path"
          asked={search["path.contains"]}
          onAsk={(text) => go({ "path.contains": text }, { replace: true })}
        />
        {CHIPS.filter((name) => search[name] !== undefined).map((name) => (
          <Chip key={name} name={name.replace("_", " ")} value={search[name] ?? ""} onRemove={() => go({ [name]: undefined })} />
        ))}
        <LeftOut count={leftOut} of="request" />
      </div>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : rows.length === 0 ? (
          <Empty title="No request yet">
            <p>Send a record's traffic through the edge; the first visitor appears here.</p>
          </Empty>
        ) : (
          <List<LoggedRequest>
            label="Requests"
            rows={rows}
            keyOf={keyOf}
            columns={[
              {
                head: "Time",
                width: "84px",
                cell: ({ occurred_at, ray_id }) => (
                  <Link
                    className={tools["link"]}
                    to="/zones/$zone/traffic/requests/$ray"
                    params={{ zone: zone.name, ray: ray_id }}
                    search={{}}
                    title={ray_id}
                  >
                    <Time of={occurred_at} as="exact" />
                  </Link>
                ),
              },
              {
                head: "Status",
                width: "70px",
                cell: ({ status }) => <Badge tone={status < 400 ? "good" : status < 500 ? "warn" : "bad"}>{status}</Badge>,
              },
              {
                head: "Request",
                width: "60%",
                isLine: true,
                cell: ({ method, host, path, query: asked }) => `${method} ${host}${path}${asked === "" ? "" : `?${asked}`}`,
              },
              { head: "Cache", width: "110px", isMinor: true, cell: ({ cache_status }) => cache_status.toLowerCase() || "–" },
              { head: "ms", width: "60px", isFigure: true, isMinor: true, cell: ({ duration_ms }) => duration_ms.toFixed(1) },
              { head: "From", width: "140px", isMinor: true, cell: ({ client_ip }) => pick("client_ip", client_ip) },
            ]}
          />
        )}
      </Card>
    </>
  );
}
