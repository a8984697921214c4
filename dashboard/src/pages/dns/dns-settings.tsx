import { Button, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { ZoneDnsSettings } from "#model/dns/dns-settings.ts";
import type { Zone } from "#model/zones/zone.ts";
import { ApiError } from "../../api/client.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Actions } from "../../parts/dialogs/modal.tsx";
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
        <Form path={path} settings={read.data.result} />
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
const NAMES = ["mname", "rname"] as const;

type Edits = Readonly<Record<string, string | boolean>>;

/** Edits stay until the server has them, even if the settings are read again meanwhile. */
function Form({ path, settings }: { readonly path: string; readonly settings: ZoneDnsSettings }) {
  const write = useWrite<ZoneDnsSettings>(path);
  const [edits, setEdits] = useState<Edits>({});
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = Object.keys(faults).some((name) => name === "ns_ttl" || name.startsWith("soa."));
  const isChanged = Object.keys(edits).length > 0;
  const edit = (name: string, value: string | boolean): void => setEdits((old) => ({ ...old, [name]: value }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const sent = edits;
    const keepNewer = (now: Edits): Edits => Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== sent[name]));
    write.mutate({ method: "PATCH", path, body: bodyOf(sent) }, { onSuccess: () => setEdits(keepNewer) });
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
              checked={(edits[name] as boolean | undefined) ?? settings[name]}
              onChange={({ currentTarget }) => edit(name, currentTarget.checked)}
            />
          ))}
          <TextInput
            label="TTL of the NS records"
            description="Seconds, 30 to 86400"
            value={(edits["ns_ttl"] as string | undefined) ?? String(settings.ns_ttl)}
            error={faults["ns_ttl"]?.message}
            inputMode="numeric"
            onChange={({ currentTarget }) => edit("ns_ttl", currentTarget.value)}
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
              value={(edits[name] as string | undefined) ?? String(settings.soa[name])}
              error={faults[`soa.${name}`]?.message}
              inputMode="numeric"
              onChange={({ currentTarget }) => edit(name, currentTarget.value)}
            />
          ))}
          {NAMES.map((name) => (
            <TextInput
              key={name}
              label={name === "mname" ? "First name server" : "Hostmaster"}
              description="Empty for the usual one"
              value={(edits[name] as string | undefined) ?? settings.soa[name] ?? ""}
              error={faults[`soa.${name}`]?.message}
              onChange={({ currentTarget }) => edit(name, currentTarget.value)}
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
          {write.isSuccess && !isChanged && <Notice tone="good">Saved; every nameserver has it.</Notice>}
          <Actions>
            <Button type="submit" disabled={!isChanged} loading={write.isPending} loaderProps={{ type: "dots" }}>
              Save the settings
            </Button>
          </Actions>
        </div>
      </div>
    </form>
  );
}

function bodyOf(edits: Edits): object {
  const body: Record<string, unknown> = {};
  const soa: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(edits)) {
    if (TIMES.some(([time]) => time === name)) soa[name] = secondsOf(value);
    else if (NAMES.some((one) => one === name)) soa[name] = String(value).trim() || null;
    else body[name] = name === "ns_ttl" ? secondsOf(value) : value;
  }
  return Object.keys(soa).length > 0 ? { ...body, soa } : body;
}

/** Anything else is sent as it is, so that the API says what is wrong with it. */
const secondsOf = (value: string | boolean): unknown => (/^\d+$/.test(String(value)) ? Number(value) : value);
