import { Link } from "@tanstack/react-router";
import type { Attention as Needed, AttentionKind, AttentionObject } from "#model/access/attention.ts";
import { useRead } from "../../api/hooks.ts";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/page.tsx";
import css from "./attention.module.css";

const SHOWN_MAX = 3;
const LOOK_MS = 30_000;

interface Saying {
  readonly title: (object: AttentionObject) => string;
  /** The explanation, or the next step; the object's own reason if it is left out. */
  readonly advice?: string;
  readonly to: string;
}

const day = (iso: string): string => iso.slice(0, 10);

/** Each kind in one sentence, and the page that solves it. */
const SAYINGS: Readonly<Record<AttentionKind, Saying>> = {
  zone_moved: {
    title: ({ name }) => `${name} is served elsewhere now`,
    advice: "Its registrar names other name servers.",
    to: "/zones/$zone",
  },
  zone_pending: {
    title: ({ name }) => `${name} is not active yet`,
    advice: "The registrar does not name this server's name servers yet.",
    to: "/zones/$zone",
  },
  certificate_failing: { title: ({ name }) => `The certificate for ${name} could not be issued`, to: "/zones/$zone/certificates" },
  certificate_expiring: {
    title: ({ name, reason }) => `The uploaded certificate for ${name} ends on ${day(reason)}`,
    advice: "Upload its successor; the server does not renew certificates that you upload.",
    to: "/zones/$zone/certificates",
  },
  hostname_failing: {
    title: ({ name }) => `${name} has no valid certificate`,
    advice: "Its page shows which step is missing and whose turn it is.",
    to: "/zones/$zone/hostnames/$hostname",
  },
  secondary_failing: { title: ({ name }) => `${name} could not be fetched from its primary`, to: "/zones/$zone/dns/transfers" },
  log_push_failing: { title: ({ name }) => `Logs of ${name} could not be pushed`, to: "/account/notifications" },
  notification_failing: { title: ({ name }) => `Notifications of ${name} could not be delivered`, to: "/account/notifications" },
  deprecated_calls: {
    title: ({ name }) => `${name} is still called`,
    advice: "See which token calls it, and until when it works.",
    to: "/deprecations",
  },
};

/** Problems that need a person, most urgent first, each with a link to the page that solves it. */
export function Attention({ account }: { readonly account: string }) {
  const read = useRead<Needed[]>(`/accounts/${account}/attention`, { everyMs: LOOK_MS });
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data) return <Loading />;
  if (read.data.result.length === 0)
    return (
      <p className={css["none"]}>
        <Icon name="check" size={18} /> Nothing. Zones are served, certificates are valid, and no call is deprecated.
      </p>
    );
  return <ul className={css["list"]}>{read.data.result.flatMap(itemsOf)}</ul>;
}

function itemsOf({ kind, objects, has_more: hasMore }: Needed) {
  const { title, advice, to } = SAYINGS[kind];
  const rest = objects.length - SHOWN_MAX;
  return [
    ...objects.slice(0, SHOWN_MAX).map((object) => (
      <li key={`${kind} ${object.id}`}>
        <Icon name={kind === "deprecated_calls" ? "clock" : "alert"} size={18} />
        <div>
          <Link to={to as never} params={{ zone: object.zone_name ?? "", hostname: object.name } as never}>
            {title(object)}
          </Link>
          <p>{advice ?? object.reason}</p>
        </div>
      </li>
    )),
    ...(rest > 0
      ? [
          <li key={`${kind} more`}>
            <Icon name="alert" size={18} />
            <p>{hasMore ? `More than ${rest} others like the last.` : `${rest} ${rest === 1 ? "other" : "others"} like the last.`}</p>
          </li>,
        ]
      : []),
  ];
}
