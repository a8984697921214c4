import type { ReactNode } from "react";
import type { PlaneNode, RolloutStatus } from "#model/access/node.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { healthOf, lagOf } from "./node-words.ts";

const GUIDE = "/docs/guides/fleet";
const COMMAND = "selvedge node token --name fra-1 --planes edge,nameserver,gateway --addresses 203.0.113.10";

/** Machines that run planes only, as control sees them. */
export function NodesPage() {
  const account = useAccount();
  const read = useRead<PlaneNode[]>(account && `/accounts/${account.id}/nodes`, { everyMs: 5000 });
  const rollout = useRead<RolloutStatus>(account && `/accounts/${account.id}/rollout`, { everyMs: 5000 });
  const paused = rollout.data?.result.state === "paused" ? rollout.data.result : undefined;
  return (
    <>
      <PageHead title="Nodes" lead="Machines near your visitors that run planes and follow the changes of this server." />
      {paused && (
        <div className={tools["inset"]}>
          <Notice tone="bad" title="Changes stop at the canaries">
            {paused.reason}
          </Notice>
        </div>
      )}
      <Card>
        {read.error && !read.data ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : read.data.result.length === 0 ? (
          <Empty title="Every plane runs on this server">
            <p>A node answers visitors from another machine, without a database, and goes on while this server is away.</p>
            <a href={GUIDE} className={tools["link"]}>
              How to add one
            </a>
          </Empty>
        ) : (
          <Nodes nodes={read.data.result} />
        )}
      </Card>
      <Card title="Add a node">
        <div className={tools["stack"]}>
          <p className={tools["hint"]}>
            On the machine of this server, with its --config; the token that it prints lets one machine join within an hour. The{" "}
            <a href={GUIDE} className={tools["link"]}>
              guide
            </a>{" "}
            says what the other machine needs.
          </p>
          <CopyBlock label="command" text={COMMAND} />
        </div>
      </Card>
    </>
  );
}

const Nodes = ({ nodes }: { readonly nodes: readonly PlaneNode[] }) => (
  <List<PlaneNode>
    label="Nodes"
    rows={nodes}
    keyOf={({ name }) => name}
    columns={[
      {
        head: "Node",
        width: "auto",
        cell: ({ name, planes, ring }) => (
          <>
            <b>{name}</b> {ring === "canary" && <Badge tone="accent">canary</Badge>}
            <p className={tools["quiet"]}>{planes.join(", ")}</p>
          </>
        ),
      },
      { head: "Health", width: "auto", cell: (node) => <Health node={node} /> },
      { head: "Addresses", width: "auto", isMinor: true, cell: (node) => <Addresses node={node} /> },
      { head: "Visitors", width: "130px", cell: (node) => <InAnswers node={node} /> },
      { head: "Changes", width: "120px", cell: (node) => <Lag node={node} /> },
      { head: "Version", width: "90px", isMinor: true, cell: ({ version }) => version ?? "–" },
      { head: "Last seen", width: "130px", isMinor: true, cell: ({ seen_on }) => <Time of={seen_on} as="exact" /> },
    ]}
  />
);

interface NodeProps {
  readonly node: PlaneNode;
}

function Health({ node }: NodeProps) {
  const { word, tone, reasons } = healthOf(node);
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      {reasons.map((reason) => (
        <p key={reason} className={tools["quiet"]}>
          {reason}
        </p>
      ))}
    </>
  );
}

/** Visitors' addresses first, then the listeners. */
function Addresses({ node: { edge_addresses: visitors, addresses } }: NodeProps): ReactNode {
  const listeners = Object.entries(addresses);
  if (visitors.length === 0 && listeners.length === 0) return "–";
  return (
    <>
      {visitors.length > 0 && <span className="mono">{visitors.join(", ")}</span>}
      {listeners.map(([listener, address]) => (
        <p key={listener} className={tools["quiet"]}>
          {listener} <span className="mono">{address}</span>
        </p>
      ))}
    </>
  );
}

const InAnswers = ({ node: { edge_addresses, in_answers } }: NodeProps) =>
  edge_addresses.length === 0 ? (
    <span className={tools["quiet"]}>no addresses</span>
  ) : (
    <Badge tone={in_answers ? "good" : "warn"}>{in_answers ? "in answers" : "not in answers"}</Badge>
  );

function Lag({ node }: NodeProps) {
  const { text, tone } = lagOf(node);
  return (
    <>
      {tone === "plain" ? <span>{text}</span> : <Badge tone={tone}>{text}</Badge>}
      {node.revision !== null && <p className={tools["quiet"]}>revision {node.revision}</p>}
    </>
  );
}
