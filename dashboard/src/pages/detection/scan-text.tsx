import { Button, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { SensitiveDataFindings } from "#model/detection/sensitive-data.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Fault, Notice } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { CONFIDENCES } from "./confidences.ts";

type Finding = SensitiveDataFindings["findings"][number];

/** Detection on a text. The server does not store the text. */
export function ScanText({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}/sensitive_data`;
  const [text, setText] = useState("");
  const scan = useWrite<SensitiveDataFindings>();
  const allow = useWrite<{ id: string }>(`${base}/allowed`);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    allow.reset();
    scan.mutate({ method: "POST", path: `${base}/scan`, body: { text } });
  };
  const found = scan.data?.result;
  const error = scan.error ?? allow.error;
  return (
    <Card title="Scan a text">
      <form className={tools["form"]} onSubmit={submit}>
        <Textarea
          label="Text"
          description="A response as your site sends it. It is scanned and not stored."
          rows={5}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          spellCheck={false}
          required
        />
        <div className={tools["row"]}>
          <Button type="submit" variant="default" disabled={text === ""} loading={scan.isPending} loaderProps={{ type: "dots" }}>
            Scan
          </Button>
        </div>
        {error && (
          <Notice tone="bad">
            <Fault error={error} />
          </Notice>
        )}
        {allow.isSuccess && <Notice tone="good">Saved. Detection leaves this value out from now on.</Notice>}
        {found && found.findings.length === 0 && <Notice tone="good">{`Nothing found in ${count(found.bytes)} bytes.`}</Notice>}
        {found && found.findings.length > 0 && (
          <List<Finding>
            label="Findings"
            rows={found.findings}
            keyOf={({ rule_id, value_hash }) => `${rule_id} ${value_hash}`}
            columns={[
              { head: "Kind", width: "auto", cell: ({ description }) => description },
              { head: "Confidence", width: "100px", cell: ({ confidence }) => <Badge tone={CONFIDENCES[confidence]}>{confidence}</Badge> },
              { head: "Would be reported", width: "140px", cell: ({ enabled }) => (enabled ? "yes" : "no, its rule is off") },
              { head: "Times", width: "60px", isFigure: true, cell: (finding) => count(finding.count) },
              { head: "Place", width: "130px", isMinor: true, cell: ({ offset, json_path }) => json_path ?? `byte ${count(offset)}` },
              {
                head: "Action",
                width: "120px",
                cell: ({ value_hash, detector }) => (
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={`Leave out this ${detector}`}
                    onClick={() =>
                      allow.mutate({ method: "POST", path: `${base}/allowed`, body: { value_hash, description: `a known ${detector}` } })
                    }
                  >
                    Leave out
                  </Button>
                ),
              },
            ]}
          />
        )}
      </form>
    </Card>
  );
}
