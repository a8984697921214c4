import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { useAddress, useAdding } from "../../api/search.ts";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Chip, Empty, Failed, Loading, PageHead, type Tone } from "../../parts/page.tsx";
import { asciiName, shownName } from "../../api/names.ts";
import { count, Time } from "../../parts/time.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import tools from "../../parts/tools.module.css";
import { AddZone } from "./add-zone.tsx";

const TONES: Readonly<Record<string, Tone>> = { active: "good", pending: "warn", moved: "bad" };
const PER_PAGE = 50;

export function ZonesPage() {
  const [{ search, status, page = "1" }, go] = useAddress();
  const [isAdding, setAdding] = useAdding();
  const query = new URLSearchParams({ per_page: String(PER_PAGE), page, order: "name" });
  if (search !== undefined) query.set("name", `contains:${asciiName(search)}`);
  if (status !== undefined) query.set("status", status);
  const read = useRead<Zone[]>(`/zones?${query.toString()}`, { keepsPrevious: true });
  const total = read.data?.result_info?.total_count ?? 0;
  const isFiltered = search !== undefined || status !== undefined;
  return (
    <>
      <PageHead
        title="Zones"
        lead={read.data ? `${count(total)} ${isFiltered ? "fit the filters" : total === 1 ? "domain" : "domains"}` : "Your domains"}
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Add a zone
        </Button>
      </PageHead>
      <div className={tools["tools"]}>
        <SearchField
          label="Search zones"
          placeholder="Search names"
          asked={search}
          onAsk={(text) => go({ search: text, page: undefined }, { replace: true })}
        />
        {status !== undefined && <Chip name="Status" value={status} onRemove={() => go({ status: undefined })} />}
      </div>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={isFiltered ? "No zone matches" : "No zones yet"}>
            {!isFiltered && <p>A zone is a domain that this server answers for. Add yours, then its records.</p>}
            {!isFiltered && <Button onClick={() => setAdding(true)}>Add a zone</Button>}
          </Empty>
        ) : (
          <List<Zone>
            label="Zones"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                width: "auto",
                cell: ({ name }) => (
                  <Link to="/zones/$zone" params={{ zone: name }} title={name}>
                    {shownName(name)}
                  </Link>
                ),
              },
              {
                head: "Status",
                width: "110px",
                cell: (zone) => <Badge tone={TONES[zone.status] ?? "plain"}>{zone.paused ? "paused" : zone.status}</Badge>,
              },
              { head: "Type", width: "110px", isMinor: true, cell: ({ type }) => type },
              { head: "Plan", width: "130px", isMinor: true, cell: ({ plan }) => plan.name },
              { head: "Added", width: "90px", isMinor: true, cell: ({ created_on }) => <Time of={created_on} as="day" /> },
            ]}
          />
        )}
      </Card>
      {total > PER_PAGE && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={page === "1"} onClick={() => go({ page: String(Number(page) - 1) })}>
            Previous
          </Button>
          <span>
            Page {page} of {Math.ceil(total / PER_PAGE)}
          </span>
          <Button variant="default" disabled={Number(page) * PER_PAGE >= total} onClick={() => go({ page: String(Number(page) + 1) })}>
            Next
          </Button>
        </div>
      )}
      {isAdding && <AddZone onClose={() => setAdding(false)} />}
    </>
  );
}
