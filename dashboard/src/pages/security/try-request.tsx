import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { RuleTrace } from "#model/rulesets/rule-trace.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api } from "../../api/client.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Card, Empty, Fault, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { TraceResult } from "./trace-result.tsx";

export const TryPage = () => <ZoneGate>{(zone) => <Try zone={zone} />}</ZoneGate>;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Each phase's effect on a request that is described and not sent. */
function Try({ zone }: { readonly zone: Zone }) {
  const [{ url: asked }] = useAddress();
  const [url, setUrl] = useState(asked ?? `https://www.${zone.name}/`);
  const [method, setMethod] = useState("GET");
  const [ip, setIp] = useState("192.0.2.1");
  const [headers, setHeaders] = useState("user-agent: Mozilla/5.0");
  const [body, setBody] = useState("");
  const trace = useMutation({
    mutationFn: () =>
      api<RuleTrace>("POST", `/zones/${zone.id}/rulesets/trace`, {
        url,
        method,
        ip,
        headers: headersOf(headers),
        ...(body === "" ? {} : { body }),
      }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    trace.mutate();
  };
  return (
    <>
      <PageHead title="Try a request" lead="Nothing is sent: the rules as they are saved now say what they would do, phase by phase." />
      <div className={tools["wide"]}>
        <div>
          <Card title="The request">
            <form className={tools["form"]} onSubmit={submit}>
              <TextInput
                label="Address"
                value={url}
                onChange={({ currentTarget }) => setUrl(currentTarget.value)}
                required
                spellCheck={false}
              />
              <div className={tools["two"]}>
                <Choice label="Method" value={method} options={METHODS.map((one) => [one, one] as const)} onChange={setMethod} />
                <TextInput label="From" value={ip} onChange={({ currentTarget }) => setIp(currentTarget.value)} required />
              </div>
              <Textarea
                label="Header fields"
                description="One a line: name: value"
                classNames={{ input: tools["mono"] ?? "" }}
                rows={3}
                value={headers}
                onChange={({ currentTarget }) => setHeaders(currentTarget.value)}
                spellCheck={false}
              />
              <Textarea
                label="Body"
                classNames={{ input: tools["mono"] ?? "" }}
                rows={4}
                value={body}
                onChange={({ currentTarget }) => setBody(currentTarget.value)}
                spellCheck={false}
              />
              <div className={tools["row"]}>
                <Button type="submit" loading={trace.isPending} loaderProps={{ type: "dots" }}>
                  Try it
                </Button>
              </div>
            </form>
          </Card>
        </div>
        <div>
          <Card title="Result">
            {trace.error ? (
              <Notice tone="bad">
                <Fault error={trace.error} />
              </Notice>
            ) : trace.data ? (
              <TraceResult trace={trace.data.result} />
            ) : (
              <Empty title="Nothing was tried yet" />
            )}
          </Card>
        </div>
      </div>
    </>
  );
}

/** Lines without a colon are left out; a name that comes twice has both values. */
function headersOf(text: string): Readonly<Record<string, readonly string[]>> {
  const headers: Record<string, string[]> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) (headers[line.slice(0, at).trim().toLowerCase()] ??= []).push(line.slice(at + 1).trim());
  }
  return headers;
}
