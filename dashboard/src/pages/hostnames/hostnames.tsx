import { Button, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";

import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { AddProgress } from "./add-progress.tsx";
import { beginRun } from "./add-run.ts";
import { ZoneGate } from "../start/zone-gate.tsx";
import { sentenceOf } from "./sentence.ts";

const PER_PAGE = 50;

export const HostnamesPage = () => <ZoneGate>{(zone) => <Hostnames zone={zone} />}</ZoneGate>;

function Hostnames({ zone }: { readonly zone: Zone }) {
  const [{ search, page = "1" }, go] = useAddress();
  const [isAdding, setAdding] = useState(false);
  const query = new URLSearchParams({ per_page: String(PER_PAGE), page });
  if (search !== undefined) query.set("hostname", search);
  const read = useRead<CustomHostname[]>(`/zones/${zone.id}/custom_hostnames?${query.toString()}`, {
    keepsPrevious: true,
    everyMs: 15_000,
  });
  const total = read.data?.result_info?.total_count ?? 0;
  return (
    <>
      <PageHead title="Custom hostnames" lead="Your customers' names for this zone's site, each with its own certificate.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Add hostnames
        </Button>
      </PageHead>
      <div className={tools["tools"]}>
        <SearchField
          label="Search hostnames"
          placeholder="Search hostnames"
          asked={search}
          onAsk={(text) => go({ search: text, page: undefined }, { replace: true })}
        />
      </div>
      <AddProgress zoneId={zone.id} />
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={search === undefined ? "No custom hostnames yet" : "No hostname matches"}>
            {search === undefined && <p>Add the name that a customer wants to use; you get the records that the customer has to make.</p>}
          </Empty>
        ) : (
          <List<CustomHostname>
            label="Custom hostnames"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Hostname",
                width: "auto",
                cell: ({ hostname }) => (
                  <Link to="/zones/$zone/hostnames/$hostname" params={{ zone: zone.name, hostname }}>
                    {hostname}
                  </Link>
                ),
              },
              {
                head: "State",
                width: "auto",
                cell: (one) => {
                  const { text, tone } = sentenceOf(one);
                  return (
                    <>
                      <Badge tone={tone}>{one.status}</Badge> {text}
                    </>
                  );
                },
              },
              { head: "Certificate until", width: "130px", isMinor: true, cell: ({ ssl }) => <Time of={ssl?.expires_on} as="day" /> },
              { head: "Added", width: "80px", isMinor: true, cell: ({ created_at }) => <Time of={created_at} as="day" /> },
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
      {isAdding && <AddHostnames zone={zone} onClose={() => setAdding(false)} />}
    </>
  );
}

/** One name a line. The page shows the progress, and the names that are wrong. */
function AddHostnames({ zone, onClose }: { readonly zone: Zone; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const names = [...new Set(text.split(/\s+/).filter(Boolean))];
  const submit = (): void => {
    beginRun(zone.id, names, () => void client.invalidateQueries());
    onClose();
  };
  return (
    <FormDialog
      title="Add hostnames"
      submit={names.length > 1 ? `Add ${count(names.length)}` : "Add"}
      onSubmit={submit}
      onClose={onClose}
      isDisabled={names.length === 0}
    >
      <Textarea
        label="Hostnames"
        description="One a line. Each gets a certificate, validated over HTTP."
        rows={5}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        spellCheck={false}
        required
        data-autofocus
      />
    </FormDialog>
  );
}
