import { Button } from "@mantine/core";
import { useState } from "react";
import type { AccessApp } from "#model/access/access-app.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { useAddress, useAdding } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Card, Empty, Failed, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { placesOf, TYPE_WORDS } from "./access-app.ts";
import { AccessAppForm } from "./access-app-form.tsx";

const PER_PAGE = 50;

export function AccessAppsPage() {
  const account = useAccount();
  const path = account && `/accounts/${account.id}/access/apps`;
  const [{ search, page = "1" }, go] = useAddress();
  const query = new URLSearchParams({ per_page: String(PER_PAGE), page, ...(search !== undefined && { search }) });
  const read = useRead<AccessApp[]>(path && `${path}?${query.toString()}`, { keepsPrevious: true });
  const [isAdding, setAdding] = useAdding();
  const [editing, setEditing] = useState<AccessApp>();
  const [removing, setRemoving] = useState<AccessApp>();
  const remove = useWrite<{ id: string }>(path ?? "-");
  const total = read.data?.result_info?.total_count ?? 0;
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      Add an application
    </Button>
  );
  return (
    <>
      <PageHead title="Access applications" lead="Names and paths that people log in to, as Terraform and the API's clients keep them.">
        {total > 0 && add}
      </PageHead>
      <div className={tools["inset"]}>
        <Notice tone="warn" title="These are only records">
          The edge of this installation does not ask visitors to log in: policies and identity providers are not built. To put a site behind
          a login, place an authenticating proxy before its origin.
        </Notice>
      </div>
      {(total > 0 || search !== undefined) && (
        <div className={tools["tools"]}>
          <SearchField
            label="Search applications"
            placeholder="Search names and addresses"
            asked={search}
            onAsk={(text) => go({ search: text, page: undefined }, { replace: true })}
          />
        </div>
      )}
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title={search === undefined ? "No application yet" : "No application matches"}>{search === undefined && add}</Empty>
        ) : (
          <List<AccessApp>
            label="Access applications"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ name, type }) => <b>{name ?? TYPE_WORDS[type] ?? type}</b> },
              { head: "Type", width: "150px", cell: ({ type }) => TYPE_WORDS[type] ?? type },
              { head: "Addresses", width: "auto", cell: (app) => placesOf(app).join(", ") },
              { head: "Session", width: "90px", isMinor: true, cell: ({ session_duration }) => session_duration ?? "–" },
              { head: "Changed", width: "100px", isMinor: true, cell: ({ updated_at }) => <Time of={updated_at} as="day" /> },
              {
                head: "Action",
                width: "150px",
                cell: (app) => (
                  <span className={tools["row"]}>
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Change ${app.name ?? app.type}`}
                      onClick={() => setEditing(app)}
                    >
                      Change
                    </Button>
                    <Button
                      variant="default"
                      size="compact-xs"
                      aria-label={`Delete ${app.name ?? app.type}`}
                      onClick={() => setRemoving(app)}
                    >
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {total > PER_PAGE && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={page === "1"} onClick={() => go({ page: String(Number(page) - 1) })}>
            Previous
          </Button>
          <span>Page {page}</span>
          <Button variant="default" disabled={Number(page) * PER_PAGE >= total} onClick={() => go({ page: String(Number(page) + 1) })}>
            Next
          </Button>
        </div>
      )}
      {path !== undefined && (isAdding || editing) && (
        <AccessAppForm
          path={path}
          app={editing}
          onClose={() => {
            setEditing(undefined);
            if (isAdding) setAdding(false);
          }}
        />
      )}
      {path !== undefined && removing && (
        <Confirm
          title={`Delete ${removing.name ?? removing.type}?`}
          action="Delete the application"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => {
            setRemoving(undefined);
            remove.reset();
          }}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${path}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Visitors notice nothing, because the edge does not ask them to log in.
        </Confirm>
      )}
    </>
  );
}
