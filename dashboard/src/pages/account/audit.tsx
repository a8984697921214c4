import { Button } from "@mantine/core";
import type { AuditLog } from "#model/access/audit-log.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { List } from "../../parts/list.tsx";
import { Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { AccountTabs } from "./account-tabs.tsx";
import { actionWords, actorWords } from "./audit-words.ts";

const PER_PAGE = 50;

export function AuditPage() {
  const account = useAccount();
  const [{ action, page = "1" }, go] = useAddress();
  const query = new URLSearchParams({ per_page: String(PER_PAGE), page });
  if (action !== undefined) query.set("action.type", action);
  const read = useRead<AuditLog[]>(account && `/accounts/${account.id}/audit_logs?${query.toString()}`, { keepsPrevious: true });
  const pick = (type: string): void => go({ action: type, page: undefined });
  const isFull = read.data?.result.length === PER_PAGE;
  return (
    <>
      <PageHead title="Account" lead="Every change: who, what and when. It is written together with the change itself." />
      <AccountTabs />
      <div className={tools["tools"]}>
        <SearchField
          label="Action"
          placeholder="Action: dns_record.create"
          asked={action}
          onAsk={(text) => go({ action: text, page: undefined }, { replace: true })}
        />
      </div>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={action === undefined ? "Nothing has been changed yet" : "No change of this kind"} />
        ) : (
          <List<AuditLog>
            label="Audit log"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "When", width: "130px", cell: ({ when }) => <Time of={when} /> },
              { head: "Actor", width: "auto", cell: actorWords },
              { head: "Action", width: "auto", cell: ({ action: { type } }) => <Action type={type} onPick={pick} /> },
              { head: "Address", width: "130px", isMinor: true, cell: ({ actor }) => <span className="mono">{actor.ip}</span> },
              { head: "Resource", width: "auto", isMinor: true, cell: ({ resource }) => <span className="mono">{resource.id}</span> },
            ]}
          />
        )}
      </Card>
      {(isFull || page !== "1") && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={page === "1"} onClick={() => go({ page: String(Number(page) - 1) })}>
            Newer
          </Button>
          <span>Page {page}</span>
          <Button variant="default" disabled={!isFull} onClick={() => go({ page: String(Number(page) + 1) })}>
            Older
          </Button>
        </div>
      )}
    </>
  );
}

/** In words, with the name by which the API and the field above know it. */
const Action = ({ type, onPick }: { readonly type: string; readonly onPick: (type: string) => void }) => (
  <>
    {actionWords(type)}
    <p>
      <button
        type="button"
        className={`${tools["pick"]} ${tools["mono"]}`}
        title="Show only changes of this kind"
        onClick={() => onPick(type)}
      >
        {type}
      </button>
    </p>
  </>
);
