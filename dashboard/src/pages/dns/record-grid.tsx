import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useState } from "react";
import { Failed } from "../../parts/page.tsx";
import { pagesOfRows, type RecordPages } from "./record-pages.ts";
import { type Field, RecordRow, type RowActions } from "./record-row.tsx";
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
/** Rows that are drawn before the number of records is known. */
const FIRST_ROWS = 30;
/** The keys that edit a cell of the row with the focus. */
const KEYS: Readonly<Record<string, Field>> = { Enter: "content", F2: "name", t: "type", c: "note" };
const phone = matchMedia("(max-width: 700px)");

/** A cell that is being edited. */
export interface Editing {
  readonly id: string;
  readonly field: Field;
}

interface GridProps {
  /** Name of the zone. */
  readonly zone: string;
  readonly zoneId: string;
  readonly hasTags: boolean;
  readonly pages: RecordPages;
  /** A change of it scrolls to the first row. */
  readonly query: string;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly picked: ReadonlySet<string>;
  readonly editing: Editing | undefined;
  readonly actions: RowActions;
  /** Gets the pages that the rows on the screen belong to (record-pages.ts). */
  readonly onPages: (pages: string) => void;
  readonly onNew: () => void;
  /** Shown instead of rows if no record matches. */
  readonly empty: ReactNode;
}

/** The table of records. It is apart from the page, because scrolling renders it again for each new row. */
export function RecordGrid({ zone, zoneId, hasTags, pages, query, scroller, picked, editing, actions, onPages, onNew, empty }: GridProps) {
  const [active, setActive] = useState(0);
  const height = phone.matches ? 60 : 38;
  const { total } = pages;
  const rows = useVirtualizer({
    count: total ?? FIRST_ROWS,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
  });
  const items = rows.getVirtualItems();
  const needed = pagesOfRows(items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  useEffect(() => {
    onPages(needed);
  }, [needed, onPages]);
  useEffect(() => void scroller.current?.scrollTo(0, 0), [query, scroller]);

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
      focusActiveRow(scroller);
    } else if (record && KEYS[event.key] && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      actions.edit(record.id, KEYS[event.key] as Field);
    } else if (record && event.key === " ") {
      event.preventDefault();
      actions.pick(record.id);
    } else if (event.key === "n" && !event.ctrlKey && !event.metaKey) onNew();
  };
  const instead = pages.error ? <Failed error={pages.error} onAgain={pages.again} /> : total === 0 ? empty : undefined;
  return (
    <div
      ref={scroller}
      className={css["scroller"]}
      role="grid"
      aria-label={`DNS records of ${zone}`}
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
      {instead !== undefined ? (
        <div role="row">
          <div role="gridcell">{instead}</div>
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
                zone={zone}
                zoneId={zoneId}
                hasTags={hasTags}
                actions={actions}
              />
            );
          })}
        </div>
      )}
    </div>
  );
}

/** Focuses the row that the keyboard acts on, once it is drawn. */
export const focusActiveRow = (scroller: RefObject<HTMLDivElement | null>): void =>
  void requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]')?.focus());
