import type { Deprecation } from "#deprecations/deprecation.ts";
import type { DeprecationCall } from "#model/access/deprecation-call.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { secondsAgo } from "../../api/now.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import css from "./deprecations.module.css";
import { Rehearse } from "./rehearse.tsx";

/** Deprecations by date, and the tokens that still use them. */
export function DeprecationsPage() {
  const account = useAccount();
  const [{ show = "all" }, go] = useAddress();
  const rows = useRead<Deprecation[]>("/deprecations");
  const calls = useRead<DeprecationCall[]>(account && `/accounts/${account.id}/deprecation_calls?per_page=1000`);
  const today = secondsAgo(0).slice(0, 10);
  const called = Object.groupBy(calls.data?.result ?? [], ({ deprecation_id }) => deprecation_id);
  const shown = (rows.data?.result ?? [])
    .filter(({ id, date }) => show === "all" || (show === "called" ? called[id] !== undefined : date > today))
    .toSorted((a, b) => (a.date < b.date ? 1 : -1));
  return (
    <>
      <PageHead title="Deprecations" lead="Interfaces that end or change on a date, and the tokens that still use them.">
        <Choice
          label="Show"
          isQuiet
          value={show}
          options={[
            ["all", "All"],
            ["called", "Still called"],
            ["coming", "Still to come"],
          ]}
          onChange={(value) => go({ show: value === "all" ? undefined : value })}
        />
      </PageHead>
      <Card title="Tokens that still use them">
        {calls.error ? (
          <Failed error={calls.error} onAgain={() => void calls.refetch()} />
        ) : !calls.data ? (
          <Loading />
        ) : calls.data.result.length === 0 ? (
          <p className={tools["quiet"]}>No token has used a deprecated interface.</p>
        ) : (
          <List<DeprecationCall>
            label="Calls of deprecated interfaces"
            rows={calls.data.result}
            keyOf={(call) => `${call.day} ${call.token_id} ${call.route} ${call.deprecation_id}`}
            columns={[
              { head: "Day", width: "90px", cell: ({ day }) => <Time of={day} as="day" /> },
              { head: "Token or user", width: "auto", cell: ({ token_id }) => <span className="mono">{token_id}</span> },
              { head: "Route", width: "auto", isMinor: true, cell: ({ route }) => <span className="mono">{route}</span> },
              { head: "Deprecation", width: "auto", cell: ({ deprecation_id }) => <a href={`#${deprecation_id}`}>{deprecation_id}</a> },
              { head: "Calls", width: "70px", isFigure: true, cell: (call) => count(call.calls) },
            ]}
          />
        )}
      </Card>
      {account && <Rehearse accountId={account.id} />}
      <Card title="By date">
        {rows.error ? (
          <Failed error={rows.error} onAgain={() => void rows.refetch()} />
        ) : !rows.data ? (
          <Loading />
        ) : shown.length === 0 ? (
          <Empty title="Nothing of this kind" />
        ) : (
          <ol className={css["line"]}>
            {shown.map(({ id, date, was, why, replacement, routes }) => (
              <li key={id} id={id}>
                <time dateTime={date} className="num">
                  {date}
                </time>
                <div>
                  <p>
                    <b>{was.replaceAll("`", "")}</b> {date > today ? <Badge tone="warn">to come</Badge> : <Badge>in force</Badge>}{" "}
                    {called[id] && <Badge tone="bad">still called</Badge>}
                  </p>
                  <p>{why}</p>
                  {replacement !== null && <p>Instead: {replacement}</p>}
                  {routes.length > 0 && (
                    <p className="mono">
                      {routes.slice(0, 3).join(", ")}
                      {routes.length > 3 && ` and ${routes.length - 3} more`}
                    </p>
                  )}
                </div>
              </li>
            ))}
          </ol>
        )}
      </Card>
    </>
  );
}
