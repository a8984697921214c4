import { Link } from "@tanstack/react-router";
import type { DeprecationCall } from "#model/access/deprecation-call.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/page.tsx";
import css from "./attention.module.css";

const SHOWN_MAX = 6;

/** Problems that need a person, each with a link to the page that solves it. */
export function Attention({ account, zones }: { readonly account: string; readonly zones: readonly Zone[] | undefined }) {
  const calls = useRead<DeprecationCall[]>(`/accounts/${account}/deprecation_calls?per_page=50`);
  if (!zones) return <Loading />;
  const waiting = zones.filter(({ status }) => status === "pending" || status === "moved");
  const deprecated = new Set(calls.data?.result.map(({ deprecation_id }) => deprecation_id));
  if (waiting.length === 0 && deprecated.size === 0)
    return (
      <p className={css["none"]}>
        <Icon name="check" size={18} /> Nothing. Zones are active, and nobody calls what will end.
      </p>
    );
  return (
    <ul className={css["list"]}>
      {waiting.slice(0, SHOWN_MAX).map(({ id, name, status }) => (
        <li key={id}>
          <Icon name="alert" size={18} />
          <div>
            <Link to="/zones/$zone" params={{ zone: name }}>
              {name} is {status === "pending" ? "not active yet" : "served elsewhere now"}
            </Link>
            <p>
              {status === "pending"
                ? "The registrar does not name this server's name servers yet."
                : "Its registrar names other name servers."}
            </p>
          </div>
        </li>
      ))}
      {waiting.length > SHOWN_MAX && (
        <li>
          <Icon name="alert" size={18} />
          <Link to="/zones" search={{ status: "pending" }}>
            {waiting.length - SHOWN_MAX} more zones wait
          </Link>
        </li>
      )}
      {deprecated.size > 0 && (
        <li>
          <Icon name="clock" size={18} />
          <div>
            <Link to="/deprecations">
              {deprecated.size} deprecated {deprecated.size === 1 ? "interface is" : "interfaces are"} still called
            </Link>
            <p>See which token calls what, and until when it works.</p>
          </div>
        </li>
      )}
    </ul>
  );
}
