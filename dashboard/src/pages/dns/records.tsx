import { Button, TextInput } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { shownName } from "../../api/names.ts";
import { Chip, Empty, Failed, PageHead } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { useTyped } from "../../parts/use-typed.ts";
import { ZoneGate } from "../start/zone-gate.tsx";
import { BulkEdit } from "./bulk-edit.tsx";
import { RecordForm } from "./record-form.tsx";
import { useRecordPages } from "./record-pages.ts";
import { type Field, RecordRow, type RowActions } from "./record-row.tsx";
import { RECORD_TYPES } from "./record-types.ts";
import css from "./records.module.css";

const HEADS = [
  ["pick", "Selection"],
  ["type", "Type"],
  ["name", "Name"],
  ["content", "Content"],
  ["traffic", "Traffic"],
  ["ttl", "TTL"],
  ["note", "Comment"],
  ["changed", "Changed"],
] as const;
/** As many as one write changes at once. */
const BULK_MAX = 3000;
const phone = matchMedia("(max-width: 700px)");

export const RecordsPage = () => <ZoneGate>{(zone) => <Records zone={zone} />}</ZoneGate>;

function Records({ zone }: { readonly zone: Zone }) {
  const [{ search, type, proxied, record: opened }, go] = useAddress();
  const [typed, setTyped] = useTyped(search, (text) => go({ search: text }, { replace: true }));
  const scroller = useRef<HTMLDivElement>(null);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<{ readonly id: string; readonly field: Field }>();
  const [active, setActive] = useState(0);
  const [form, setForm] = useState<DnsRecord | "new" | undefined>(opened === "new" ? "new" : undefined);
  useEffect(() => {
    if (opened === "new") setForm("new");
  }, [opened]);
  const [isRemoving, setRemoving] = useState(false);
  const [fault, setFault] = useState<string>();
  const [isBulk, setBulk] = useState(false);
  const [isSelecting, setSelecting] = useState(false);
  const height = phone.matches ? 60 : 38;
  const types = useMemo(() => type?.split(",") ?? [], [type]);
  const query = useMemo(() => {
    const params = new URLSearchParams({ order: "name" });
    if (search !== undefined) params.set("search", search);
    for (const one of types) params.append("type", one);
    if (proxied !== undefined) params.set("proxied", proxied);
    return params.toString();
  }, [search, types, proxied]);
  const [count_, setCount] = useState(30);
  const rows = useVirtualizer({ count: count_, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 10 });
  const items = rows.getVirtualItems();
  const pages = useRecordPages(zone.id, query, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const { total } = pages;
  useEffect(() => {
    if (total !== undefined) setCount(total);
  }, [total]);
  useEffect(() => void scroller.current?.scrollTo(0, 0), [query]);

  const latest = useRef(pages);
  latest.current = pages;
  const focusActive = (): void =>
    void requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]')?.focus());
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
        focusActive();
      },
      open: setForm,
    }),
    [zone.id],
  );
  const remove = useWrite<unknown>(`/zones/${zone.id}/dns_records`);

  const onKey = (event: KeyboardEvent): void => {
    const step = Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1;
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + step,
      PageUp: active - step,
      Home: 0,
      End: (total ?? 1) - 1,
    }[event.key];
    const record = pages.at(active);
    if (to !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(to, (total ?? 1) - 1));
      setActive(next);
      rows.scrollToIndex(next);
      focusActive();
    } else if (record && (event.key === "Enter" || event.key === "F2")) {
      event.preventDefault();
      actions.edit(record.id, event.key === "F2" ? "name" : "content");
    } else if (record && event.key === " ") {
      event.preventDefault();
      actions.pick(record.id);
    } else if (event.key === "n" && !event.ctrlKey && !event.metaKey) setForm("new");
  };
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
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setForm("new")}>
          Add a record
        </Button>
      </PageHead>
      <div className={tools["tools"]}>
        <TextInput
          data-search
          size="xs"
          className={tools["find"]}
          placeholder="Search names, contents and comments"
          aria-label="Search records"
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Choice
          label="Add a type to the filter"
          isQuiet
          value=""
          options={[["", "Type"] as const, ...RECORD_TYPES.map((one) => [one, one] as const)]}
          onChange={(value) => go({ type: [...new Set([...types, value])].join(",") })}
        />
        <Choice
          label="Traffic"
          isQuiet
          value={proxied ?? ""}
          options={[
            ["", "Traffic"],
            ["true", "Through the edge"],
            ["false", "DNS only"],
          ]}
          onChange={(value) => go({ proxied: value || undefined })}
        />
        {types.map((one) => (
          <Chip
            key={one}
            name="Type"
            value={one}
            onRemove={() => go({ type: types.filter((other) => other !== one).join(",") || undefined })}
          />
        ))}
        {proxied !== undefined && (
          <Chip name="Traffic" value={proxied === "true" ? "through the edge" : "DNS only"} onRemove={() => go({ proxied: undefined })} />
        )}
        {fault !== undefined && (
          <span role="alert" className={css["alert"]}>
            {fault}
          </span>
        )}
      </div>
      <div className={css["frame"]}>
        <div
          ref={scroller}
          className={css["scroller"]}
          role="grid"
          aria-label={`DNS records of ${zone.name}`}
          aria-rowcount={(total ?? 0) + 1}
          aria-multiselectable
          tabIndex={-1}
          onKeyDown={onKey}
          onFocus={(event) => {
            const row = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
            if (row) setActive(Number(row.dataset["index"]));
          }}
        >
          <div role="row" aria-rowindex={1} className={css["heads"]}>
            {HEADS.map(([id, head]) => (
              <span key={id} role="columnheader" className={css[id]}>
                {id === "pick" ? <span className="unseen">{head}</span> : head}
              </span>
            ))}
          </div>
          {pages.error ? (
            <div role="row">
              <div role="gridcell">
                <Failed error={pages.error} onAgain={pages.again} />
              </div>
            </div>
          ) : total === 0 ? (
            <div role="row">
              <div role="gridcell">
                <Empty title={isFiltered ? "No record matches these filters" : "This zone has no records yet"}>
                  {isFiltered ? (
                    <Button variant="default" onClick={() => go({ search: undefined, type: undefined, proxied: undefined })}>
                      Remove all filters
                    </Button>
                  ) : (
                    <p>Add the first one, or import the zone file of the name servers that you use now.</p>
                  )}
                </Empty>
              </div>
            </div>
          ) : (
            <div role="rowgroup" className={css["rows"]} style={{ height: rows.getTotalSize() }}>
              {items.map(({ index, start }) => {
                const record = pages.at(index);
                return (
                  <RecordRow
                    key={index}
                    record={record}
                    index={index}
                    start={start}
                    height={height}
                    isActive={index === active}
                    isPicked={record !== undefined && picked.has(record.id)}
                    editing={record && editing?.id === record.id ? editing.field : undefined}
                    zone={zone.name}
                    actions={actions}
                  />
                );
              })}
            </div>
          )}
        </div>
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
        <RecordForm
          zoneId={zone.id}
          zone={zone.name}
          hasTags={zone.plan.legacy_id !== "free"}
          record={form === "new" ? undefined : form}
          onClose={close}
          onDone={done}
        />
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
