import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { CustomHostname, FallbackOrigin } from "#model/hostnames/custom-hostname.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { CopyRecord } from "../../parts/copy-record.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card, Empty, Facts, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { SetFallbackOrigin } from "./fallback-origin.tsx";
import css from "./hostname.module.css";
import { messageFor, stepsOf } from "./hostname-steps.ts";
import { sentenceOf } from "./sentence.ts";

export const HostnamePage = () => <ZoneGate>{(zone) => <HostnameOf zone={zone} />}</ZoneGate>;

/** Why it is not active: each step, what was seen of it, and the records that are missing. */
function HostnameOf({ zone }: { readonly zone: Zone }) {
  const { hostname } = useParams({ strict: false }) as { hostname: string };
  const base = `/zones/${zone.id}/custom_hostnames`;
  const navigate = useNavigate();
  const read = useRead<CustomHostname[]>(`${base}?hostname=${encodeURIComponent(hostname)}&per_page=50`, { everyMs: 10_000 });
  const fallback = useRead<FallbackOrigin>(`${base}/fallback_origin`);
  const write = useWrite<CustomHostname>(base);
  const [isRemoving, setRemoving] = useState(false);
  const one = read.data?.result.find((row) => row.hostname === hostname);
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data)
    return (
      <div className={tools["inset"]}>
        <Loading />
      </div>
    );
  if (!one)
    return (
      <Empty isPage title={`${zone.name} has no custom hostname ${hostname}`}>
        <Link to="/zones/$zone/hostnames" params={{ zone: zone.name }} className={tools["link"]}>
          All custom hostnames
        </Link>
      </Empty>
    );
  const { text, tone } = sentenceOf(one);
  const steps = stepsOf(one, zone.name, fallback.data?.result);
  return (
    <>
      <PageHead title={hostname} lead={text}>
        {tone !== "good" && (
          <Button
            variant="default"
            loading={write.isPending}
            loaderProps={{ type: "dots" }}
            onClick={() =>
              write.mutate({ method: "PATCH", path: `${base}/${one.id}`, body: { ssl: { method: one.ssl?.method ?? "http", type: "dv" } } })
            }
          >
            Check again now
          </Button>
        )}
        <Button variant="default" onClick={() => setRemoving(true)}>
          Delete
        </Button>
      </PageHead>
      {write.error && !isRemoving && (
        <div className={tools["inset"]}>
          <Notice tone="bad">
            <Fault error={write.error} />
          </Notice>
        </div>
      )}
      <Card title={tone === "good" ? "Checks" : "Why is it not active?"}>
        <ol className={css["steps"]}>
          {steps.map(({ id, title, state, seen, hint, records, instead, http }) => (
            <li key={id} data-state={state}>
              <span className={css["mark"]}>
                <Icon name={state === "done" ? "check" : state === "failed" ? "alert" : "clock"} size={16} />
                <span className="unseen">{state}</span>
              </span>
              <div className={tools["stack"]}>
                <div>
                  <h3>{title}</h3>
                  <p>{seen}</p>
                  {hint !== undefined && <p className={tools["quiet"]}>{hint}</p>}
                </div>
                {records.map((record) => (
                  <CopyRecord key={`${record.type} ${record.name} ${record.value}`} {...record} />
                ))}
                {instead && (
                  <details>
                    <summary className={tools["quiet"]}>Or make one CNAME, so that renewals need nothing more from the customer</summary>
                    {instead.map((record) => (
                      <CopyRecord key={record.name} {...record} />
                    ))}
                  </details>
                )}
                {http && (
                  <details>
                    <summary className={tools["quiet"]}>Or answer over HTTP</summary>
                    <CopyBlock label="the address and the answer" text={`${http.url}\n${http.body}`} />
                  </details>
                )}
                {id === "origin" && state !== "done" && <SetFallbackOrigin zone={zone} />}
              </div>
            </li>
          ))}
        </ol>
        {tone !== "good" && <p className={tools["quiet"]}>The server checks again by itself, and this page shows it within ten seconds.</p>}
      </Card>
      {steps.some(({ records }) => records.length > 0) && (
        <Card title="Send this to the customer">
          <CopyBlock label="the message" text={messageFor(one, steps)} />
        </Card>
      )}
      <Card title="Certificate">
        <Facts
          of={[
            ["Status", one.ssl?.status.replaceAll("_", " ") ?? "none"],
            ["Validated by", one.ssl?.method ?? "–"],
            ["Issuer", one.ssl?.issuer ?? "–"],
            ["Until", <Time key="u" of={one.ssl?.expires_on} />],
            ["Origin", one.custom_origin_server ?? "the fallback origin"],
          ]}
        />
      </Card>
      {isRemoving && (
        <Confirm
          title={`Delete ${hostname}?`}
          action="Delete the hostname"
          typed={hostname}
          error={write.error}
          isPending={write.isPending}
          onClose={() => setRemoving(false)}
          onConfirm={() =>
            write.mutate(
              { method: "DELETE", path: `${base}/${one.id}` },
              { onSuccess: () => void navigate({ to: "/zones/$zone/hostnames", params: { zone: zone.name } }) },
            )
          }
        >
          Its certificates go with it, and its visitors are refused at once.
        </Confirm>
      )}
    </>
  );
}
