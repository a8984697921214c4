import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { shownName } from "../../api/names.ts";
import { Empty, PageHead } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { BulkEdit } from "./bulk-edit.tsx";
import { RecordFilters } from "./record-filters.tsx";
import { RecordForm } from "./record-form.tsx";
import { type Editing, focusActiveRow, RecordGrid } from "./record-grid.tsx";
import { pagesOfRows, useRecordPages } from "./record-pages.ts";
import type { RowActions } from "./record-row.tsx";
import css from "./records.module.css";

/** As many as one write changes at once. */
const BULK_MAX = 3000;

export const RecordsPage = () => <ZoneGate>{(zone) => <Records zone={zone} />}</ZoneGate>;

function Records({ zone }: { readonly zone: Zone }) {
  const [{ search, type, proxied, record: opened }, go] = useAddress();
  const scroller = useRef<HTMLDivElement>(null);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<Editing>();
  const [form, setForm] = useState<DnsRecord | "new" | undefined>(opened === "new" ? "new" : undefined);
  useEffect(() => {
    if (opened === "new") setForm("new");
  }, [opened]);
  const [isRemoving, setRemoving] = useState(false);
  const [fault, setFault] = useState<string>();
  const [isBulk, setBulk] = useState(false);
  const [isSelecting, setSelecting] = useState(false);
  const query = useMemo(() => {
    const params = new URLSearchParams({ order: "name" });
    if (search !== undefined) params.set("search", search);
    for (const one of type?.split(",") ?? []) params.append("type", one);
    if (proxied !== undefined) params.set("proxied", proxied);
    return params.toString();
  }, [search, type, proxied]);
  const [shown, setShown] = useState(pagesOfRows(0, 0));
  const pages = useRecordPages(zone.id, query, shown);
  const { total } = pages;

  const latest = useRef(pages);
  latest.current = pages;
  const actions = useMemo<RowActions>(
    () => ({
      pick: (id) => setPicked((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])),
      edit: (id, field) => setEditing({ id, field }),
      save: async (record, change) => {
        setFault(undefined);
        const saved = api<DnsRecord>("PATCH", `/zones/${zone.id}/dns_records/${record.id}`, change);
        if ("proxied" in change) await saved.catch((error: Error) => setFault(`${record.name}: ${error.message}`));
        latest.current.replace((await saved).result);
      },
      leave: () => {
        setEditing(undefined);
        focusActiveRow(scroller);
      },
      open: setForm,
    }),
    [zone.id],
  );
  const openNew = useCallback(() => setForm("new"), []);
  const remove = useWrite<unknown>(`/zones/${zone.id}/dns_records`);

  /** All that match the filters, not those alone that are on the screen. */
  const selectAll = async (): Promise<void> => {
    setSelecting(true);
    const ids: string[] = [];
    try {
      for (let page = 1; ids.length < (total ?? 0); page++) {
        const { result } = await api<DnsRecord[]>("GET", `/zones/${zone.id}/dns_records?${query}&per_page=1000&page=${page}`);
        if (result.length === 0) break;
        ids.push(...result.map(({ id }) => id));
      }
      setPicked(new Set(ids));
    } catch (error) {
      setFault((error as Error).message);
    } finally {
      setSelecting(false);
    }
  };
  const hasTags = zone.plan.legacy_id !== "free";
  const isFiltered = search !== undefined || type !== undefined || proxied !== undefined;
  const close = (): void => {
    setForm(undefined);
    if (opened !== undefined) go({ record: undefined }, { replace: true });
  };
  const done = (): void => {
    close();
    pages.refresh();
  };
  return (
    <div className={css["page"]}>
      <PageHead
        title="DNS records"
        lead={
          <>
            <b className="num">{total === undefined ? "…" : count(total)}</b>{" "}
            {isFiltered ? "match the filters" : `in ${shownName(zone.name)}, served as soon as they are saved`}
          </>
        }
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={openNew}>
          Add a record
        </Button>
      </PageHead>
      <RecordFilters>
        {fault !== undefined && (
          <span role="alert" className={css["alert"]}>
            {fault}
          </span>
        )}
      </RecordFilters>
      <div className={css["frame"]}>
        <RecordGrid
          zone={zone.name}
          zoneId={zone.id}
          hasTags={hasTags}
          pages={pages}
          query={query}
          scroller={scroller}
          picked={picked}
          editing={editing}
          actions={actions}
          onPages={setShown}
          onNew={openNew}
          empty={
            <Empty title={isFiltered ? "No record matches these filters" : "This zone has no records yet"}>
              {isFiltered ? (
                <Button variant="default" onClick={() => go({ search: undefined, type: undefined, proxied: undefined })}>
                  Remove all filters
                </Button>
              ) : (
                <p>
                  Add the first one, or{" "}
                  <Link className={tools["link"]} to="/zones/$zone/dns/import" params={{ zone: zone.name }}>
                    import the zone file
                  </Link>{" "}
                  of the name servers that you use now.
                </p>
              )}
            </Empty>
          }
        />
        {picked.size > 0 && (
          <div className={css["bulk"]} role="toolbar" aria-label="Actions for the selected records">
            {count(picked.size)} selected
            {total !== undefined && picked.size < total && total <= BULK_MAX && (
              <Button variant="subtle" color="gray" loading={isSelecting} onClick={() => void selectAll()}>
                Select all {count(total)}
              </Button>
            )}
            <Button variant="subtle" onClick={() => setBulk(true)}>
              Edit
            </Button>
            <Button variant="subtle" color="red" onClick={() => setRemoving(true)}>
              Delete
            </Button>
            <Button variant="subtle" color="gray" onClick={() => setPicked(new Set())}>
              Clear
            </Button>
          </div>
        )}
      </div>
      {form !== undefined && (
        <RecordForm zoneId={zone.id} hasTags={hasTags} record={form === "new" ? undefined : form} onClose={close} onDone={done} />
      )}
      {isBulk && (
        <BulkEdit
          zoneId={zone.id}
          ids={picked}
          known={pages.known(picked)}
          onClose={() => setBulk(false)}
          onDone={() => {
            setBulk(false);
            setPicked(new Set());
            pages.refresh();
          }}
        />
      )}
      {isRemoving && (
        <Confirm
          title={`Delete ${count(picked.size)} ${picked.size === 1 ? "record" : "records"} of ${zone.name}?`}
          action="Delete"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(false)}
          onConfirm={() =>
            remove.mutate(
              { method: "POST", path: `/zones/${zone.id}/dns_records/batch`, body: { deletes: [...picked].map((id) => ({ id })) } },
              {
                onSuccess: () => {
                  setRemoving(false);
                  setPicked(new Set());
                },
              },
            )
          }
        >
          All of them go at once, or none does. The version before stays, and can be restored.
        </Confirm>
      )}
    </div>
  );
}
