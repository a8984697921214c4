import { Button } from "@mantine/core";
import { useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { DnsVersion, DnsVersionChange } from "#model/dns/dns-version.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import css from "./import.module.css";

export const VersionsPage = () => <ZoneGate>{(zone) => <Versions zone={zone} />}</ZoneGate>;

/** The writes of records, newest first, each with its actor, time and reason. A version is undone, or the records go back to how they were after it. */
function Versions({ zone }: { readonly zone: Zone }) {
  const [{ version: opened, page = "1" }, go] = useAddress();
  const base = `/zones/${zone.id}/dns_versions`;
  const read = useRead<DnsVersion[]>(`${base}?per_page=50&page=${page}`, { keepsPrevious: true });
  const total = read.data?.result_info?.total_count ?? 0;
  const newest = page === "1" ? read.data?.result[0]?.version : undefined;
  return (
    <>
      <PageHead title="Versions" lead="Every write of the records is kept, with who made it, why, and how it can be undone." />
      {opened !== undefined && (
        <Changes key={opened} zone={zone} version={Number(opened)} newest={newest} onClose={() => go({ version: undefined })} />
      )}
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title="No record was written yet" />
        ) : (
          <List<DnsVersion>
            label="Versions"
            rows={read.data.result}
            keyOf={({ version }) => String(version)}
            columns={[
              {
                head: "Version",
                width: "110px",
                cell: ({ version }) => (
                  <button type="button" className={tools["pick"]} onClick={() => go({ version: String(version) })}>
                    {version}
                  </button>
                ),
              },
              { head: "When", width: "130px", cell: ({ created_on }) => <Time of={created_on} /> },
              { head: "Change", width: "90px", cell: ({ kind }) => <Badge>{kind}</Badge> },
              {
                head: "Records",
                width: "auto",
                cell: (one) => <span className="num">{`+${count(one.created)}  ~${count(one.updated)}  −${count(one.deleted)}`}</span>,
              },
              { head: "Actor", width: "auto", isMinor: true, cell: ({ actor }) => actor.name || actor.id },
              { head: "Why", width: "auto", isMinor: true, cell: ({ reason }) => reason ?? "–" },
            ]}
          />
        )}
      </Card>
      {total > 50 && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={page === "1"} onClick={() => go({ page: String(Number(page) - 1) })}>
            Newer
          </Button>
          <Button variant="default" disabled={Number(page) * 50 >= total} onClick={() => go({ page: String(Number(page) + 1) })}>
            Older
          </Button>
        </div>
      )}
    </>
  );
}

interface ChangesProps {
  readonly zone: Zone;
  readonly version: number;
  readonly newest: number | undefined;
  readonly onClose: () => void;
}

const SHOWN_MAX = 200;

function Changes({ zone, version, newest, onClose }: ChangesProps) {
  const base = `/zones/${zone.id}/dns_versions`;
  const changes = useRead<DnsVersionChange[]>(`${base}/${version}/changes?per_page=${SHOWN_MAX}`);
  const [asked, setAsked] = useState<"revert" | "restore">();
  // The effect of going back: the newest version compared with this one.
  const back = useRead<DnsVersionChange[]>(
    asked === "restore" && newest !== undefined && newest !== version ? `${base}/diff?from=${newest}&to=${version}` : undefined,
  );
  const write = useWrite<DnsVersion>(base, `/zones/${zone.id}/dns_records`);
  return (
    <Card
      title={`Version ${version}`}
      aside={
        <div className={tools["row"]}>
          <Button variant="default" onClick={() => setAsked("revert")}>
            Undo this write
          </Button>
          {version !== newest && (
            <Button variant="default" onClick={() => setAsked("restore")}>
              Go back to it
            </Button>
          )}
          <Button variant="subtle" color="gray" onClick={onClose}>
            Close
          </Button>
        </div>
      }
    >
      {changes.error ? (
        <Failed error={changes.error} onAgain={() => void changes.refetch()} />
      ) : changes.data ? (
        <ChangeList changes={changes.data.result} total={changes.data.result_info?.total_count} />
      ) : (
        <Loading />
      )}
      {asked && (
        <Confirm
          title={asked === "revert" ? `Undo version ${version}?` : `Go back to version ${version}?`}
          action={asked === "revert" ? "Undo it" : "Go back"}
          error={write.error}
          isPending={write.isPending}
          onClose={() => setAsked(undefined)}
          onConfirm={() => write.mutate({ method: "POST", path: `${base}/${version}/${asked}` }, { onSuccess: onClose })}
        >
          {asked === "revert"
            ? "The records of this write become what they were before it. Later writes stay, and a record that one of them changed stops it."
            : back.data
              ? `${count(back.data.result_info?.total_count ?? back.data.result.length)} records change. It is a new version itself, which can be undone.`
              : "All records become what they were after this version. It is a new version itself, which can be undone."}
        </Confirm>
      )}
    </Card>
  );
}

const line = ({ type, name, content, ttl, proxied, priority }: DnsRecord): string =>
  `${name} ${ttl === 1 ? "auto" : ttl} ${type} ${priority === undefined ? "" : `${priority} `}${content}${proxied ? " (edge)" : ""}`;

function ChangeList({
  changes,
  total = changes.length,
}: {
  readonly changes: readonly DnsVersionChange[];
  readonly total?: number | undefined;
}) {
  return (
    <>
      <ol className={css["diff"]}>
        {changes.flatMap(({ id, before, after }) => [
          ...(before
            ? [
                <li key={`- ${id}`} data-action="removed">
                  {line(before)}
                </li>,
              ]
            : []),
          ...(after
            ? [
                <li key={`+ ${id}`} data-action="added">
                  {line(after)}
                </li>,
              ]
            : []),
        ])}
      </ol>
      {total > changes.length && <p className={tools["quiet"]}>and {count(total - changes.length)} more records</p>}
    </>
  );
}
