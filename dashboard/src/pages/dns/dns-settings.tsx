import { Button, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { ZoneDnsSettings } from "#model/dns/dns-settings.ts";
import type { Zone } from "#model/zones/zone.ts";
import { ApiError } from "../../api/client.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Actions } from "../../parts/modal.tsx";
import { Card, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";

export const DnsSettingsPage = () => <ZoneGate>{(zone) => <Settings zone={zone} />}</ZoneGate>;

function Settings({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/dns_settings`;
  const read = useRead<ZoneDnsSettings>(path);
  return (
    <>
      <PageHead title="DNS settings" lead="Settings of the nameserver for the whole zone." />
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : read.data ? (
        <Form key={JSON.stringify(read.data.result)} path={path} settings={read.data.result} />
      ) : (
        <Card>
          <Loading />
        </Card>
      )}
    </>
  );
}

const SWITCHES = [
  ["flatten_all_cnames", "Flatten every CNAME", "Answers have the addresses behind an alias instead of the alias."],
  ["multi_provider", "Other providers serve the zone too", "NS records at the apex and keys of other signers are allowed."],
] as const;
const TIMES = [
  ["refresh", "Refresh", "how often secondaries look"],
  ["retry", "Retry", "when one could not"],
  ["expire", "Expire", "when secondaries stop to answer"],
  ["min_ttl", "Negative TTL", "how long a missing name is remembered"],
  ["ttl", "TTL of the SOA record", ""],
] as const;

function Form({ path, settings }: { readonly path: string; readonly settings: ZoneDnsSettings }) {
  const write = useWrite<ZoneDnsSettings>(path);
  const [change, setChange] = useState<Readonly<Record<string, unknown>>>({});
  const [soa, setSoa] = useState<Readonly<Record<string, unknown>>>({});
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = Object.keys(faults).some((name) => name === "ns_ttl" || name.startsWith("soa."));
  const body = { ...change, ...(Object.keys(soa).length > 0 ? { soa } : {}) };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    write.mutate({ method: "PATCH", path, body });
  };
  const seconds = (name: string, text: string, set: (value: unknown) => void): void => {
    setTyped({ ...typed, [name]: text });
    set(/^\d+$/.test(text) ? Number(text) : text);
  };
  return (
    <form onSubmit={submit}>
      <Card title="Answers">
        <div className={tools["form"]}>
          {SWITCHES.map(([name, label, description]) => (
            <Switch
              key={name}
              label={label}
              description={description}
              checked={(change[name] as boolean | undefined) ?? settings[name]}
              onChange={({ currentTarget }) => setChange({ ...change, [name]: currentTarget.checked })}
            />
          ))}
          <TextInput
            label="TTL of the NS records"
            description="Seconds, 30 to 86400"
            value={typed["ns_ttl"] ?? String(settings.ns_ttl)}
            error={faults["ns_ttl"]?.message}
            inputMode="numeric"
            onChange={({ currentTarget }) => seconds("ns_ttl", currentTarget.value, (value) => setChange({ ...change, ns_ttl: value }))}
          />
        </div>
      </Card>
      <Card title="SOA record">
        <div className={tools["two"]}>
          {TIMES.map(([name, label, hint]) => (
            <TextInput
              key={name}
              label={label}
              description={`Seconds${hint === "" ? "" : `: ${hint}`}`}
              value={typed[name] ?? String(settings.soa[name])}
              error={faults[`soa.${name}`]?.message}
              inputMode="numeric"
              onChange={({ currentTarget }) => seconds(name, currentTarget.value, (value) => setSoa({ ...soa, [name]: value }))}
            />
          ))}
          {(["mname", "rname"] as const).map((name) => (
            <TextInput
              key={name}
              label={name === "mname" ? "First name server" : "Hostmaster"}
              description="Empty for the usual one"
              value={typed[name] ?? settings.soa[name] ?? ""}
              error={faults[`soa.${name}`]?.message}
              onChange={({ currentTarget: { value } }) => {
                setTyped({ ...typed, [name]: value });
                setSoa({ ...soa, [name]: value.trim() === "" ? null : value.trim() });
              }}
              spellCheck={false}
            />
          ))}
        </div>
      </Card>
      <div className={tools["inset"]}>
        <div className={tools["stack"]}>
          {write.error && !isBesideField && (
            <Notice tone="bad">
              <Fault error={write.error} />
            </Notice>
          )}
          {write.isSuccess && Object.keys(body).length === 0 && <Notice tone="good">Saved; every nameserver has it.</Notice>}
          <Actions>
            <Button type="submit" disabled={Object.keys(body).length === 0} loading={write.isPending} loaderProps={{ type: "dots" }}>
              Save the settings
            </Button>
          </Actions>
        </div>
      </div>
    </form>
  );
}
