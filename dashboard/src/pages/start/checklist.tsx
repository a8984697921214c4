import { Link } from "@tanstack/react-router";
import type { DnsRecordUsage } from "#model/dns/dns-record.ts";
import type { ServerHealth } from "#model/access/server-health.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useEntrypoint } from "../../api/entrypoint.ts";
import { useRead } from "../../api/hooks.ts";
import { Icon } from "../../parts/icon.tsx";
import css from "./checklist.module.css";

/** Certificates and visitors come without a click, so their steps are read again while the page is open. */
const LOOK_MS = 5000;

interface Step {
  readonly title: string;
  readonly hint: string;
  readonly to: string;
  /** Undefined while it is not known; null if it could not be read. */
  readonly isDone: boolean | undefined | null;
  /** Said in place of the hint then. */
  readonly unknown?: string;
}

/** The way of a site behind the edge; each tick is what the server says now. */
export function useSteps(zone: Zone): readonly Step[] {
  const base = `/zones/${zone.id}`;
  const usage = useRead<DnsRecordUsage>(`${base}/dns_records/usage`);
  const proxied = useRead<unknown[]>(`${base}/dns_records?proxied=true&per_page=5`);
  const packs = useRead<{ status: string }[]>(`${base}/ssl/certificate_packs`, {
    everyMs: LOOK_MS,
    until: (all) => all.some(({ status }) => status === "active"),
  });
  const managed = useEntrypoint(zone.id, "http_request_firewall_managed");
  const health = useRead<ServerHealth>(`/accounts/${zone.account.id}/health`);
  const requests = useRead<unknown[]>(`${base}/logs/requests?per_page=1`, { everyMs: LOOK_MS, until: (all) => all.length > 0 });
  return [
    {
      title: "Add its records",
      hint: "Type them, or import a zone file.",
      to: "/zones/$zone/dns/records",
      isDone: usage.isError ? null : usage.data && usage.data.result.record_usage > 0,
    },
    {
      title: "Name its name servers at the registrar",
      hint: `${zone.name_servers.join(" and ")}. The zone is active when the world asks them.`,
      to: "/zones/$zone",
      isDone: zone.status === "active" && (zone.activated_on === zone.created_on ? null : true),
      unknown: `${zone.name_servers.join(" and ")}. The zone was active at once, so the server has not asked which name servers the domain has.`,
    },
    {
      title: "Send its traffic through the edge",
      hint: "Switch a record from DNS only to Edge.",
      to: "/zones/$zone/dns/records",
      isDone: proxied.isError ? null : proxied.data && (proxied.data.result_info?.total_count ?? 0) > 0,
    },
    {
      title: "Have a certificate",
      hint: "It is ordered by itself once a name is proxied.",
      to: "/zones/$zone",
      isDone: packs.isError ? null : packs.data && packs.data.result.some(({ status }) => status === "active"),
    },
    {
      title: "Turn attack detection on",
      hint: "Managed rules block what is known to be an attack.",
      to: "/zones/$zone/security/managed",
      isDone: managed.isError
        ? null
        : managed.data === null
          ? false
          : managed.data?.rules.some(({ action, enabled }) => action === "execute" && enabled),
    },
    {
      title: "See a request",
      hint: `The first visitor shows that everything works. ${edgeHint(zone.name, health.data?.result.addresses["http"])}`,
      to: "/zones/$zone/traffic",
      isDone: requests.isError ? null : requests.data && requests.data.result.length > 0,
    },
  ];
}

const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "[::]", "127.0.0.1", "[::1]"]);

/** The command for a first visit. An address that stands for all of the machine's is reached where this page is. */
function edgeHint(zone: string, http: string | undefined): string {
  if (http === undefined) return "Until the registrar names the edge, ask it by its address with the name of the zone in the Host field.";
  const { hostname, port } = new URL(http);
  const host = ANY.has(hostname) ? location.hostname : hostname;
  return `Until the registrar names this server, ask the edge itself: curl -H "Host: ${zone}" http://${host}${port === "" ? "" : `:${port}`}/`;
}

export function Checklist({ zone }: { readonly zone: Zone }) {
  const steps = useSteps(zone);
  const done = steps.filter(({ isDone }) => isDone === true).length;
  const isKnown = steps.every(({ isDone }) => isDone !== undefined);
  const isOpen = isKnown && steps.some(({ isDone }) => isDone === false);
  return (
    <details open={isOpen} key={String(isOpen)}>
      <summary className={css["count"]}>
        <b className="num">{isKnown ? done : "–"}</b> of <b className="num">{steps.length}</b> done
      </summary>
      <ol className={css["steps"]}>
        {steps.map(({ title, hint, to, isDone, unknown = "Whether it is done could not be read." }) => (
          <li key={title} data-done={isDone === true}>
            <span className={css["tick"]}>{isDone === true && <Icon name="check" size={14} />}</span>
            <div>
              <Link to={to} params={{ zone: zone.name }}>
                {title}
              </Link>
              <p>{isDone === null ? unknown : hint}</p>
            </div>
            <span className="unseen">{isDone === undefined || isDone === null ? "not known" : isDone ? "done" : "open"}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
