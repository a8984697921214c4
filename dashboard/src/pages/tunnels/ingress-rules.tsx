import { ActionIcon, Button } from "@mantine/core";
import { useState } from "react";
import type { IngressRule } from "#model/tunnels/ingress.ts";
import type { TunnelConfiguration } from "#model/tunnels/tunnel.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Card, Empty, Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { IngressForm } from "./ingress-form.tsx";
import { moved, useIngress } from "./use-ingress.ts";

interface RulesProps {
  /** Of the tunnel. */
  readonly path: string;
  readonly configuration: TunnelConfiguration;
  readonly onRoute: (hostname: string) => void;
}

type Open = { readonly kind: "form"; readonly at: number | undefined } | { readonly kind: "delete"; readonly at: number };

/** Where a connector sends requests: the first rule that fits decides. */
export function IngressRules({ path, configuration, onRoute }: RulesProps) {
  const ingress = useIngress(path, configuration);
  const { rules, write, save } = ingress;
  const [open, setOpen] = useState<Open>();
  const last = rules.length - 1;
  const show = (next: Open | undefined): void => {
    write.reset();
    setOpen(next);
  };
  // Each save replaces all rules, so the next one waits for their new order.
  const move = (from: number, to: number): void => void (write.isPending || save(moved(rules, from, to)));
  const add = (
    <Button size="xs" variant={rules.length > 0 ? "default" : "filled"} onClick={() => show({ kind: "form", at: undefined })}>
      Add a rule
    </Button>
  );
  return (
    <Card title="Where requests go" aside={rules.length > 0 ? add : undefined}>
      <div className={tools["stack"]}>
        {configuration.source === "local" && (
          <Notice tone="warn">
            The connectors of this tunnel have rules on their command line. The first rule that you add here replaces them.
          </Notice>
        )}
        {write.error && !open && (
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        )}
        {rules.length === 0 ? (
          <Empty title="Say which service gets the requests">
            <p>Such as app.example.com to http://127.0.0.1:9000, as the connector's machine reaches it.</p>
            {add}
          </Empty>
        ) : (
          <List<IngressRule>
            label="Ingress rules"
            rows={rules}
            keyOf={({ hostname, path: searched, service }) => JSON.stringify([hostname, searched, service])}
            columns={[
              { head: "Order", width: "60px", isMinor: true, cell: (rule) => rules.indexOf(rule) + 1 },
              { head: "Requests", width: "auto", cell: (rule) => (rules.indexOf(rule) === last ? "All others" : <Asked rule={rule} />) },
              { head: "Service", width: "auto", cell: (rule) => <Service rule={rule} /> },
              {
                head: "Action",
                width: "300px",
                cell: (rule) => {
                  const at = rules.indexOf(rule);
                  const name = at === last ? "all other requests" : `rule ${at + 1}`;
                  return (
                    <div className={tools["row"]}>
                      <Button variant="default" size="compact-xs" aria-label={`Edit ${name}`} onClick={() => show({ kind: "form", at })}>
                        Edit
                      </Button>
                      {at !== last && (
                        <>
                          <Button
                            variant="default"
                            size="compact-xs"
                            aria-label={`Delete ${name}`}
                            onClick={() => show({ kind: "delete", at })}
                          >
                            Delete
                          </Button>
                          {rule.hostname !== undefined && (
                            <Button
                              variant="default"
                              size="compact-xs"
                              aria-label={`Route ${rule.hostname} here`}
                              onClick={() => onRoute(rule.hostname ?? "")}
                            >
                              Route
                            </Button>
                          )}
                          <Mover name={name} up={at > 0} down={at < last - 1} onMove={(by) => move(at, at + by)} />
                        </>
                      )}
                    </div>
                  );
                },
              },
            ]}
          />
        )}
      </div>
      {open?.kind === "form" && <IngressForm ingress={ingress} at={open.at} onClose={() => show(undefined)} />}
      {open?.kind === "delete" && (
        <Confirm
          title={`Delete the rule ${rules[open.at]?.hostname ?? open.at + 1}?`}
          action="Delete the rule"
          error={write.error}
          isPending={write.isPending}
          onClose={() => show(undefined)}
          onConfirm={() => save(rules.toSpliced(open.at, 1), () => show(undefined))}
        >
          Its requests then go where the rules after it send them.
        </Confirm>
      )}
    </Card>
  );
}

const Asked = ({ rule: { hostname, path } }: { readonly rule: IngressRule }) => (
  <>
    {hostname || "Every host"}
    {path !== undefined && path !== "" && (
      <p className={tools["quiet"]}>
        path <span className="mono">{path}</span>
      </p>
    )}
  </>
);

const Service = ({ rule: { service, originRequest } }: { readonly rule: IngressRule }) => (
  <>
    <span className="mono">{service}</span>
    {originRequest?.noTLSVerify === true && <p className={tools["quiet"]}>any certificate</p>}
  </>
);

interface MoverProps {
  readonly name: string;
  readonly up: boolean;
  readonly down: boolean;
  readonly onMove: (by: -1 | 1) => void;
}

const Mover = ({ name, up, down, onMove }: MoverProps) => (
  <>
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Move ${name} up`} disabled={!up} onClick={() => onMove(-1)}>
      <Icon name="up" size={16} />
    </ActionIcon>
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Move ${name} down`} disabled={!down} onClick={() => onMove(1)}>
      <Icon name="down" size={16} />
    </ActionIcon>
  </>
);
