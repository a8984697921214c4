import { Button } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Facts, Failed, Fault, Loading, Notice, PageHead, type Tone } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { sentenceOf } from "./sentence.ts";

export const HostnamePage = () => <ZoneGate>{(zone) => <HostnameOf zone={zone} />}</ZoneGate>;

interface Check {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
  readonly tone: Tone;
}

/** Why it is not active: each check, what it expects and what it saw. */
function HostnameOf({ zone }: { readonly zone: Zone }) {
  const { hostname } = useParams({ strict: false }) as { hostname: string };
  const base = `/zones/${zone.id}/custom_hostnames`;
  const navigate = useNavigate();
  const read = useRead<CustomHostname[]>(`${base}?hostname=${encodeURIComponent(hostname)}&per_page=50`, { everyMs: 10_000 });
  const write = useWrite<CustomHostname>(base);
  const [isRemoving, setRemoving] = useState(false);
  const one = read.data?.result.find((row) => row.hostname === hostname);
  if (read.error) return <Failed error={read.error} onAgain={() => void read.refetch()} />;
  if (!read.data)
    return (
      <div className={tools["inset"]}>
        <Loading />
      </div>
    );
  if (!one) return <Empty title={`${zone.name} has no custom hostname ${hostname}`} />;
  const { text, tone } = sentenceOf(one);
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
        <List<Check>
          label="Checks"
          rows={checksOf(one, zone)}
          keyOf={({ name }) => name}
          columns={[
            { head: "Check", width: "170px", cell: ({ name }) => <b>{name}</b> },
            { head: "Expected", width: "auto", cell: ({ expected }) => <span className="mono">{expected}</span> },
            { head: "Seen", width: "auto", cell: ({ seen, tone: of }) => <Badge tone={of}>{seen}</Badge> },
          ]}
        />
      </Card>
      {tone !== "good" && (
        <Card title="Send this to the customer">
          <CopyBlock label="the records" text={recordsFor(one, zone)} />
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

function checksOf(one: CustomHostname, zone: Zone): readonly Check[] {
  const isActive = one.status === "active";
  const errors = (one.ssl?.validation_errors ?? []).map(({ message }) => message).join(" ");
  const hasCertificate = one.ssl?.status === "active";
  return [
    {
      name: "Hostname",
      expected: `CNAME ${zone.name}`,
      seen: isActive ? "as expected" : (one.verification_errors?.[0] ?? one.status),
      tone: isActive ? "good" : "warn",
    },
    ...(one.ssl
      ? [
          {
            name: "Certificate",
            expected: one.ssl.method === "txt" ? "a TXT record" : "an answer over HTTP",
            seen: hasCertificate ? "issued" : errors || one.ssl.status.replaceAll("_", " "),
            tone: hasCertificate ? ("good" as const) : errors === "" ? ("warn" as const) : ("bad" as const),
          },
        ]
      : []),
  ];
}

function recordsFor(one: CustomHostname, zone: Zone): string {
  const lines = [`${one.hostname}. CNAME ${zone.name}.`];
  if (one.ownership_verification) lines.push(`${one.ownership_verification.name}. TXT "${one.ownership_verification.value}"`);
  for (const { txt_name, txt_value } of one.ssl?.validation_records ?? [])
    if (txt_name !== undefined) lines.push(`${txt_name}. TXT "${txt_value}"`);
  return lines.join("\n");
}
