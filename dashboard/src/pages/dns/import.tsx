import { Button, Switch, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { DnsImport, ImportLine } from "#model/dns/dns-import.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api, apiText, type Reply } from "../../api/client.ts";
import { useRead } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Fault, Notice, PageHead } from "../../parts/page.tsx";
import { count, Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import css from "./import.module.css";

interface Imported {
  readonly recs_added: number;
  readonly total_records_parsed: number;
  readonly import?: DnsImport;
  readonly report?: readonly ImportLine[];
}

const LINES_SHOWN_MAX = 200;
/** The API reports no more lines. */
const LINES_REPORTED_MAX = 1000;

const linesOf = (total: number): string =>
  total >= LINES_REPORTED_MAX ? `${count(total)} or more lines` : total === 1 ? "1 line" : `${count(total)} lines`;

export const ImportPage = () => <ZoneGate>{(zone) => <Import zone={zone} />}</ZoneGate>;

function Import({ zone }: { readonly zone: Zone }) {
  const client = useQueryClient();
  const base = `/zones/${zone.id}/dns_records`;
  const [text, setText] = useState("");
  const [isProxied, setProxied] = useState(false);
  const imports = useRead<DnsImport[]>(`${base}/import`, { everyMs: 5000 });
  const send = (query: string): Promise<Reply<Imported>> => {
    const form = new FormData();
    form.set("file", new Blob([text], { type: "text/plain" }), "zone.txt");
    form.set("proxied", String(isProxied));
    return api<Imported>("POST", `${base}/import?${query}`, form);
  };
  // A comparison lists every invalid line; an import omits only the lines that the person has seen in that list.
  const compare = useMutation({ mutationFn: () => send("dry_run=true&on_error=skip") });
  const apply = useMutation({
    mutationFn: (omits: boolean) => send(`on_error=${omits ? "skip" : "clamp"}`),
    onSuccess: () => {
      compare.reset();
      return client.invalidateQueries();
    },
  });
  const change = (next: string): void => {
    setText(next);
    compare.reset();
    apply.reset();
  };
  const download = async (): Promise<void> => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await apiText(`${base}/export`)], { type: "text/plain" }));
    link.download = `${zone.name}.zone`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const lines = text.split(/\r?\n/);
  const diff = compare.data?.result;
  const shown = (diff?.report ?? []).filter(({ action }) => action !== "unchanged");
  const invalid = shown.filter(({ action }) => action === "skipped");
  return (
    <>
      <PageHead title="Import and export" lead="A zone file adds records; what is there already stays as it is.">
        <Button variant="default" onClick={() => void download()}>
          Export {zone.name}
        </Button>
      </PageHead>
      <Card title="Import a zone file">
        <div className={tools["stack"]}>
          <Textarea
            label="Zone file"
            description="As BIND writes it, and as other services export it. Paste it, or choose a file."
            classNames={{ input: css["file"] ?? "" }}
            rows={10}
            value={text}
            onChange={({ currentTarget }) => change(currentTarget.value)}
            placeholder={`$ORIGIN ${zone.name}.\nwww 300 IN A 203.0.113.10`}
            spellCheck={false}
          />
          <div className={tools["row"]}>
            <input
              type="file"
              aria-label="Choose a zone file"
              className={css["choose"]}
              onChange={async ({ currentTarget }) => change((await currentTarget.files?.[0]?.text()) ?? "")}
            />
            <Switch
              label="Send what can be through the edge"
              checked={isProxied}
              onChange={({ currentTarget }) => setProxied(currentTarget.checked)}
            />
          </div>
          <div className={tools["row"]}>
            <Button
              disabled={text.trim() === ""}
              loading={compare.isPending}
              loaderProps={{ type: "dots" }}
              onClick={() => compare.mutate()}
            >
              Compare with the zone
            </Button>
          </div>
          {compare.error && (
            <Notice tone="bad">
              <Fault error={compare.error} />
            </Notice>
          )}
          {diff && (
            <div className={tools["stack"]} aria-label="Changes of the import">
              <p className={tools["hint"]}>
                <b className="num">{count(diff.recs_added)}</b> of <b className="num">{count(diff.total_records_parsed)}</b> records are
                new.
              </p>
              {invalid.length > 0 && (
                <Notice tone="warn" title={`${linesOf(invalid.length)} cannot be imported`}>
                  Correct {invalid.length === 1 ? "it" : "them"} above and compare again, or import the rest.
                </Notice>
              )}
              <ol className={css["diff"]} tabIndex={0} aria-label="Changed lines">
                {[...invalid, ...shown.filter((line) => !invalid.includes(line))]
                  .slice(0, LINES_SHOWN_MAX)
                  .map(({ line, action, message }) => (
                    <li key={line} data-action={action}>
                      {lines[line - 1]}
                      {message !== undefined && (
                        <i>
                          Line {count(line)}: {message}
                        </i>
                      )}
                    </li>
                  ))}
              </ol>
              {shown.length > LINES_SHOWN_MAX && <p className={tools["quiet"]}>and {count(shown.length - LINES_SHOWN_MAX)} more lines</p>}
              <div className={tools["row"]}>
                <Button
                  disabled={diff.recs_added === 0}
                  loading={apply.isPending}
                  loaderProps={{ type: "dots" }}
                  onClick={() => apply.mutate(invalid.length > 0)}
                >
                  Import {count(diff.recs_added)} {diff.recs_added === 1 ? "record" : "records"}
                  {invalid.length > 0 && ` without ${linesOf(invalid.length)}`}
                </Button>
              </div>
            </div>
          )}
          {apply.error && (
            <Notice tone="bad" title="Nothing was imported">
              <Fault error={apply.error} />
            </Notice>
          )}
          {apply.data && (
            <Notice tone="good">
              {apply.data.result.import
                ? "The import goes on by itself; leaving this page is safe."
                : `${count(apply.data.result.recs_added)} records were added.`}
            </Notice>
          )}
        </div>
      </Card>
      {imports.data && imports.data.result.length > 0 && (
        <Card title="Large imports">
          <List<DnsImport>
            label="Large imports"
            rows={imports.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Begun", width: "150px", cell: ({ created_on }) => <Time of={created_on} /> },
              {
                head: "State",
                width: "110px",
                cell: ({ status }) => <Badge tone={status === "done" ? "good" : status === "failed" ? "bad" : "accent"}>{status}</Badge>,
              },
              { head: "Records", width: "auto", cell: (one) => `${count(one.records_done)} of ${count(one.total_records_parsed)}` },
              { head: "Errors", width: "auto", isMinor: true, cell: ({ errors }) => errors.map(({ message }) => message).join("; ") },
            ]}
          />
        </Card>
      )}
    </>
  );
}
