import { Button } from "@mantine/core";
import { useState } from "react";
import type { GatewayRoute, RouteVersion } from "#model/gateways/gateway-route.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { GatewayFrame } from "../gateway.tsx";
import { RouteForm } from "./route-form.tsx";
import { RouteTree } from "./route-tree.tsx";

export function RoutesPage() {
  const [form, setForm] = useState<GatewayRoute | "new">();
  return (
    <GatewayFrame
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setForm("new")}>
          Create a route
        </Button>
      }
    >
      {(gateway) => (
        <>
          <Routes base={`${gateway}/routes`} onChange={setForm} />
          {form !== undefined && (
            <RouteForm base={`${gateway}/routes`} route={form === "new" ? undefined : form} onClose={() => setForm(undefined)} />
          )}
        </>
      )}
    </GatewayFrame>
  );
}

interface RoutesProps {
  readonly base: string;
  readonly onChange: (route: GatewayRoute) => void;
}

function Routes({ base, onChange }: RoutesProps) {
  const read = useRead<GatewayRoute[]>(`${base}?per_page=100`);
  const write = useWrite<GatewayRoute>(base);
  const [removing, setRemoving] = useState<GatewayRoute>();
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data) return <Loading />;
  if (read.data.result.length === 0)
    return (
      <Card>
        <Empty title="No routes yet">
          <p>A route chooses the model for each request: by conditions, shares or limits, with another model if one fails.</p>
        </Empty>
      </Card>
    );
  return (
    <>
      {read.data.result.map((route) => (
        <Card
          key={route.id}
          title={route.name}
          aside={
            <span className={tools["row"]}>
              <Button size="xs" variant="default" onClick={() => onChange(route)}>
                New version
              </Button>
              <Button size="xs" variant="default" onClick={() => setRemoving(route)} aria-label={`Delete the route ${route.name}`}>
                Delete
              </Button>
            </span>
          }
        >
          <div className={tools["stack"]}>
            <p className={tools["hint"]}>
              Model <code>dynamic/{route.name}</code> at <code>/compat</code>
            </p>
            <RouteTree elements={route.elements} />
            <Versions path={`${base}/${route.id}`} stale={base} />
          </div>
        </Card>
      ))}
      {removing && (
        <Confirm
          title={`Delete the route ${removing.name}?`}
          action="Delete the route"
          error={write.error}
          isPending={write.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => write.mutate({ method: "DELETE", path: `${base}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Requests for the model dynamic/{removing.name} fail from now on. Its versions are deleted too.
        </Confirm>
      )}
    </>
  );
}

function Versions({ path, stale }: { readonly path: string; readonly stale: string }) {
  const read = useRead<RouteVersion[]>(`${path}/versions?per_page=100`);
  const write = useWrite<GatewayRoute>(stale);
  const versions = read.data?.result ?? [];
  if (versions.length < 2) return null;
  return (
    <details>
      <summary className={tools["quiet"]}>{versions.length} versions</summary>
      {write.error && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
      <List<RouteVersion>
        label="Versions"
        rows={versions}
        keyOf={({ version_id }) => version_id}
        columns={[
          { head: "Created", width: "130px", cell: ({ created_at }) => <Time of={created_at} /> },
          { head: "Version", width: "auto", isLine: true, cell: ({ version_id }) => <code>{version_id}</code> },
          {
            head: "In use",
            width: "110px",
            cell: ({ version_id, active }) =>
              active === "true" ? (
                <Badge tone="good">deployed</Badge>
              ) : (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={`Deploy the version ${version_id}`}
                  onClick={() => write.mutate({ method: "POST", path: `${path}/deployments`, body: { version_id } })}
                >
                  Deploy
                </Button>
              ),
          },
        ]}
      />
    </details>
  );
}
