import { Button } from "@mantine/core";
import { useState } from "react";
import type { TunnelConnector } from "#model/tunnels/tunnel.ts";
import { useRead } from "../../api/hooks.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { List } from "../../parts/list.tsx";
import { Card, Failed, Loading } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

interface ConnectorsProps {
  /** Of the tunnel. */
  readonly path: string;
  /** The version of the tunnel's rules; undefined if connectors have their own. */
  readonly version: number | undefined;
}

/** The command that runs a connector, and the connectors that run. */
export function Connectors({ path, version }: ConnectorsProps) {
  const read = useRead<TunnelConnector[]>(`${path}/connections`, { everyMs: 5000 });
  return (
    <Card title="Connectors">
      <div className={tools["stack"]}>
        <p className={tools["hint"]}>
          Run this command where the services are. Run it on a second machine, and the tunnel outlives the loss of one.
        </p>
        <RunCommand path={path} />
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <p className={tools["quiet"]} role="status">
            No connector is connected. This page shows the first one as soon as it is.
          </p>
        ) : (
          <List<TunnelConnector>
            label="Connectors"
            rows={read.data.result}
            keyOf={({ id }) => id}
            columns={[
              {
                head: "From",
                width: "auto",
                cell: ({ conns }) => <span className="mono">{[...new Set(conns.map(({ origin_ip }) => origin_ip))].join(", ")}</span>,
              },
              {
                head: "Edge",
                width: "90px",
                isMinor: true,
                cell: ({ conns }) => [...new Set(conns.map(({ colo_name }) => colo_name))].join(", "),
              },
              { head: "Connections", width: "100px", isFigure: true, isMinor: true, cell: ({ conns }) => count(conns.length) },
              { head: "Since", width: "130px", cell: ({ run_at }) => <Time of={run_at} /> },
              { head: "Version", width: "120px", isMinor: true, cell: ({ version: program, arch }) => `${program} ${arch}` },
              { head: "Rules", width: "130px", cell: ({ config_version }) => rulesOf(config_version, version) },
            ]}
          />
        )}
      </div>
    </Card>
  );
}

/** The rules that a connector has confirmed, compared with the newest. */
function rulesOf(confirmed: number, newest: number | undefined): string {
  if (newest === undefined) return "its own rules";
  if (newest === 0) return "no rules yet";
  if (confirmed === newest) return "current rules";
  return confirmed === 0 ? "rules not confirmed" : `rules ${confirmed} of ${newest}`;
}

/** The token of the command is a secret: it is asked for, and shown, when somebody wants it. */
function RunCommand({ path }: { readonly path: string }) {
  const [isShown, setShown] = useState(false);
  const read = useRead<string>(isShown ? `${path}/token` : undefined);
  if (isShown && read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  return (
    <>
      <div className={tools["row"]}>
        <Button
          size="xs"
          variant={isShown ? "default" : "filled"}
          loading={isShown && read.isPending}
          loaderProps={{ type: "dots" }}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? "Hide the command" : "Show the command"}
        </Button>
        {!isShown && <code className={tools["mono"]}>selvedge tunnel run …</code>}
      </div>
      {isShown && read.data && (
        <>
          <CopyBlock label="command" text={`selvedge tunnel run ${read.data.result}`} />
          <p className={tools["hint"]}>
            The token lets any machine answer for this tunnel: keep it secret. If the machine does not reach the edge by its name, add
            --edge HOST:PORT.
          </p>
        </>
      )}
    </>
  );
}
