import { Button } from "@mantine/core";
import { useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { type Column, List } from "../../parts/list.tsx";
import { Card, Empty, Failed, Loading } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import css from "./page-shield.module.css";

const PER_PAGE = 50;
const STATUSES = [
  ["", "Seen within 7 days"],
  ["infrequent", "Within 30 days"],
  ["inactive", "Longer ago"],
] as const;

interface Props<T> {
  readonly title: string;
  readonly path: string;
  readonly isOn: boolean;
  /** The parameter that the field sends; `*` is added around it. */
  readonly filter: "hosts" | "name";
  readonly empty: string;
  readonly columns: readonly Column<T>[];
}

/** One list of things that browsers have reported, with its filters in the address. */
export function ResourceList<T extends { readonly id: string }>({ title, path, isOn, filter, empty, columns }: Props<T>) {
  const [search, change] = useAddress();
  const status = filter === "hosts" ? (search["status"] ?? "") : "";
  const page = Math.max(1, Number(search["page"]) || 1);
  const query = new URLSearchParams({ per_page: String(PER_PAGE), page: String(page), order_by: "last_seen_at", direction: "desc" });
  if (search["find"]) query.set(filter, `*${search["find"]}*`);
  if (status !== "") query.set("status", status);
  const read = useRead<T[]>(`${path}?${query.toString()}`, { keepsPrevious: true });
  const total = read.data?.result_info?.total_count ?? 0;
  const isFiltered = search["find"] !== undefined || status !== "";
  return (
    <Card title={title} aside={read.data && total > 0 && <span className={tools["quiet"]}>{count(total)}</span>}>
      {(isFiltered || total > 0) && (
        <div className={css["filters"]}>
          <SearchField
            label={filter === "hosts" ? "Find by host" : "Find by name"}
            placeholder={filter === "hosts" ? "Host" : "Name"}
            asked={search["find"]}
            onAsk={(find) => change({ find, page: undefined }, { replace: true })}
          />
          {filter === "hosts" && (
            <Choice
              label="Last seen"
              isQuiet
              value={status}
              options={STATUSES}
              onChange={(next) => change({ status: next, page: undefined })}
            />
          )}
        </div>
      )}
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title={isFiltered ? "Nothing fits" : isOn ? "Nothing yet" : "Page Shield is off"}>
          <p>{isFiltered ? "Change the filters." : isOn ? empty : "Turn it on above; browsers then report what your pages load."}</p>
        </Empty>
      ) : (
        <>
          <List<T> label={title} rows={read.data.result} keyOf={({ id }) => id} columns={columns} />
          {total > PER_PAGE && (
            <div className={tools["pager"]}>
              <Button variant="default" size="xs" disabled={page === 1} onClick={() => change({ page: String(page - 1) })}>
                Newer
              </Button>
              <Button variant="default" size="xs" disabled={page * PER_PAGE >= total} onClick={() => change({ page: String(page + 1) })}>
                Older
              </Button>
            </div>
          )}
        </>
      )}
    </Card>
  );
}
