import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Tunnel } from "#model/tunnels/tunnel.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { useAddress, useAdding } from "../../api/search.ts";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { number, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { CreateTunnel } from "./create-tunnel.tsx";
import { STATUS_TONES } from "./tunnel-words.ts";

const PER_PAGE = 100;

export function TunnelsPage() {
  const account = useAccount();
  const path = account && `/accounts/${account.id}/cfd_tunnel`;
  const [{ page = "1" }, go] = useAddress();
  const query = new URLSearchParams({ is_deleted: "false", per_page: String(PER_PAGE), page });
  const read = useRead<Tunnel[]>(path && `${path}?${query.toString()}`, { everyMs: 10_000, keepsPrevious: true });
  const [isAdding, setAdding] = useAdding();
  const isFull = read.data?.result.length === PER_PAGE;
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      Create a tunnel
    </Button>
  );
  return (
    <>
      <PageHead title="Tunnels" lead="Services without an open port: a connector beside them dials out to the edge.">
        {read.data && read.data.result.length > 0 && add}
      </PageHead>
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 && page === "1" ? (
          <Empty title="Publish a service that nobody can reach yet">
            <p>
              A tunnel leads visitors to a program in your office or on a machine behind NAT. That machine needs no public address and no
              open port: it runs one command, which dials out.
            </p>
            {add}
          </Empty>
        ) : (
          <List<Tunnel>
            label="Tunnels"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "Name",
                width: "auto",
                cell: ({ id, name }) => (
                  <Link to="/tunnels/$tunnel" params={{ tunnel: id }} search={{}}>
                    {name}
                  </Link>
                ),
              },
              { head: "Status", width: "120px", cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
              { head: "Connections", width: "auto", cell: (tunnel) => <Connections of={tunnel} /> },
              { head: "Created", width: "90px", isMinor: true, cell: ({ created_at }) => <Time of={created_at} as="day" /> },
            ]}
          />
        )}
      </Card>
      {(isFull || page !== "1") && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={page === "1"} onClick={() => go({ page: String(Number(page) - 1) })}>
            Previous
          </Button>
          <span>Page {page}</span>
          <Button variant="default" disabled={!isFull} onClick={() => go({ page: String(Number(page) + 1) })}>
            Next
          </Button>
        </div>
      )}
      {isAdding && path !== undefined && <CreateTunnel path={path} onClose={() => setAdding(false)} />}
    </>
  );
}

function Connections({ of: { connections, conns_active_at: since, conns_inactive_at: until } }: { readonly of: Tunnel }) {
  if (connections.length === 0)
    return (
      <span className={tools["quiet"]}>
        {until === null ? (
          "none yet"
        ) : (
          <>
            none since <Time of={until} />
          </>
        )}
      </span>
    );
  return (
    <>
      {number(connections.length, "connection")} since <Time of={since} />
    </>
  );
}
