import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { DnsQueryResult } from "#model/dns/dns-query.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useShownRead } from "../../api/shown-read.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { RECORD_TYPES } from "./record-types.ts";

export const AskPage = () => <ZoneGate>{(zone) => <Ask zone={zone} />}</ZoneGate>;

const TYPES = [...RECORD_TYPES, "SOA", "CDS", "CDNSKEY"];

/** The nameserver's answer as dig shows it, and the records of the zone that it comes from. */
function Ask({ zone }: { readonly zone: Zone }) {
  const [{ name: asked, type: askedType = "A" }, go] = useAddress();
  const [name, setName] = useState(asked ?? "@");
  const [type, setType] = useState(askedType);
  const read = useShownRead({
    queryKey: ["ask", zone.id, asked, askedType],
    enabled: asked !== undefined,
    staleTime: 0,
    queryFn: ({ signal }) => api<DnsQueryResult>("POST", `/zones/${zone.id}/dns_query`, { name: asked, type: askedType }, { signal }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const next = name.trim() || "@";
    if (next === asked && type === askedType) void read.refetch();
    else go({ name: next, type });
  };
  const found = read.data?.result;
  return (
    <>
      <PageHead title="Ask the nameserver" lead="The answer comes from the nameserver itself, as the world gets it." />
      <Card>
        <form className={tools["row"]} onSubmit={submit}>
          <TextInput
            size="xs"
            className={tools["find"] ?? ""}
            aria-label="Name"
            placeholder={`www, @ or www.${zone.name}`}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            spellCheck={false}
            autoComplete="off"
          />
          <Choice label="Type" isQuiet value={type} options={TYPES.map((one) => [one, one] as const)} onChange={setType} />
          <Button type="submit" loading={read.isFetching} loaderProps={{ type: "dots" }}>
            Ask
          </Button>
        </form>
      </Card>
      {read.error ? (
        <Failed error={read.error} />
      ) : asked === undefined ? (
        <Empty title="Nothing was asked yet">
          <p>Enter a name of the zone. The page lists each record of the answer and where it comes from.</p>
        </Empty>
      ) : !found ? (
        <Card>
          <Loading />
        </Card>
      ) : (
        <div className={tools["wide"]}>
          <div>
            <Card
              title="The answer"
              aside={
                <Badge tone={found.status === "NOERROR" ? "good" : found.status === "NXDOMAIN" ? "warn" : "bad"}>{found.status}</Badge>
              }
            >
              <pre className={tools["code"]} role="group" aria-label="The answer as dig shows it" tabIndex={0}>
                {asDig(found)}
              </pre>
            </Card>
          </div>
          <div>
            <Card title="Why">
              <ol className={tools["reasons"]}>
                {found.because.map(({ cause, message, record_id }) => (
                  <li key={`${cause} ${message} ${record_id}`}>
                    {message}{" "}
                    {record_id !== undefined && (
                      <Link
                        className={tools["link"]}
                        to="/zones/$zone/dns/records"
                        params={{ zone: zone.name }}
                        search={{ search: found.name }}
                      >
                        See it
                      </Link>
                    )}
                  </li>
                ))}
              </ol>
            </Card>
          </div>
        </div>
      )}
    </>
  );
}

function asDig({ name, type, status, flags, answer, authority, additional, duration_ms }: DnsQueryResult): string {
  const line = (one: DnsQueryResult["answer"][number]): string => `${one.name}.\t${one.ttl}\tIN\t${one.type}\t${one.content}`;
  const section = (title: string, lines: DnsQueryResult["answer"]): readonly string[] =>
    lines.length === 0 ? [] : ["", `;; ${title} SECTION:`, ...lines.map(line)];
  return [
    `;; status: ${status}, flags: qr${flags.map((flag) => ` ${flag}`).join("")}`,
    "",
    ";; QUESTION SECTION:",
    `;${name}.\t\tIN\t${type}`,
    ...section("ANSWER", answer),
    ...section("AUTHORITY", authority),
    ...section("ADDITIONAL", additional),
    "",
    `;; Query time: ${duration_ms.toFixed(1)} ms`,
  ].join("\n");
}
