import { Button } from "@mantine/core";
import { useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { FallbackOrigin } from "#model/hostnames/custom-hostname.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Fault } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** Chooses the name of the zone to which requests for custom hostnames go. */
export function SetFallbackOrigin({ zone }: { readonly zone: Zone }) {
  const records = useRead<DnsRecord[]>(`/zones/${zone.id}/dns_records?proxied=true&per_page=100&order=name`);
  const names = [...new Set((records.data?.result ?? []).map(({ name }) => name))];
  const [chosen, setChosen] = useState<string>();
  const write = useWrite<FallbackOrigin>(`/zones/${zone.id}/custom_hostnames`);
  const origin = chosen ?? names[0];
  if (records.data && origin === undefined)
    return <p className={tools["hint"]}>No name of the zone goes through the edge yet: switch one on under Records.</p>;
  if (origin === undefined) return null;
  return (
    <div className={tools["row"]}>
      <Choice label="Fallback origin" isQuiet value={origin} options={names.map((name) => [name, name] as const)} onChange={setChosen} />
      <Button
        loading={write.isPending}
        loaderProps={{ type: "dots" }}
        onClick={() => write.mutate({ method: "PUT", path: `/zones/${zone.id}/custom_hostnames/fallback_origin`, body: { origin } })}
      >
        Make it the fallback origin
      </Button>
      {write.error && <Fault error={write.error} />}
    </div>
  );
}
