import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Tunnel, TunnelConfiguration } from "#model/tunnels/tunnel.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Badge, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { number } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { Connectors } from "./connectors.tsx";
import { IngressRules } from "./ingress-rules.tsx";
import { RouteName } from "./route-name.tsx";
import { STATUS_SENTENCES, STATUS_TONES } from "./tunnel-words.ts";

export function TunnelPage() {
  const { tunnel: id } = useParams({ strict: false }) as { tunnel: string };
  const account = useAccount();
  const base = account && `/accounts/${account.id}/cfd_tunnel`;
  const path = base && `${base}/${encodeURIComponent(id)}`;
  const read = useRead<Tunnel>(path, { everyMs: 5000 });
  if (read.error && !read.data) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (path === undefined || base === undefined || !read.data)
    return (
      <div className={tools["inset"]}>
        <Loading />
      </div>
    );
  const tunnel = read.data.result;
  if (tunnel.deleted_at !== null)
    return (
      <Empty isPage title={`The tunnel ${tunnel.name} was deleted`}>
        <Link to="/tunnels" search={{}} className={tools["link"]}>
          All tunnels
        </Link>
      </Empty>
    );
  return <TunnelOf base={base} path={path} tunnel={tunnel} />;
}

interface Props {
  readonly base: string;
  readonly path: string;
  readonly tunnel: Tunnel;
}

function TunnelOf({ base, path, tunnel }: Props) {
  const read = useRead<TunnelConfiguration>(`${path}/configurations`);
  // Only the list is read again: a read of the deleted tunnel would take this page away before it leads there.
  const remove = useWrite<Tunnel>(`${base}?`);
  const navigate = useNavigate();
  const [isRemoving, setRemoving] = useState(false);
  const [routed, setRouted] = useState<string>();
  const configuration = read.data?.result;
  const connected = tunnel.connections.length;
  return (
    <>
      <PageHead
        title={
          <>
            {tunnel.name} <Badge tone={STATUS_TONES[tunnel.status]}>{tunnel.status}</Badge>
          </>
        }
        lead={STATUS_SENTENCES[tunnel.status]}
      >
        <Button variant="default" onClick={() => setRemoving(true)}>
          Delete
        </Button>
        <Button onClick={() => setRouted("")}>Route a name here</Button>
      </PageHead>
      <Connectors path={path} version={configuration?.source === "cloudflare" ? configuration.version : undefined} />
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !configuration ? (
        <div className={tools["inset"]}>
          <Loading />
        </div>
      ) : (
        <IngressRules path={path} configuration={configuration} onRoute={setRouted} />
      )}
      {routed !== undefined && <RouteName tunnel={tunnel} hostname={routed} onClose={() => setRouted(undefined)} />}
      {isRemoving && (
        <Confirm
          title={`Delete the tunnel ${tunnel.name}?`}
          action="Delete the tunnel"
          typed={tunnel.name}
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(false)}
          onConfirm={() =>
            remove.mutate(
              { method: "DELETE", path: `${path}?cascade=true` },
              { onSuccess: () => void navigate({ to: "/tunnels", search: {} }) },
            )
          }
        >
          {connected > 0 && `${number(connected, "connection")} ${connected === 1 ? "ends" : "end"}. `}
          Visitors of names that lead here get error 1033 until their records are changed. Its token stops working for good.
        </Confirm>
      )}
    </>
  );
}
