import { Button, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { CachePurged } from "#model/zones/cache-purge.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Card, Fault, Notice, PageHead } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";

export const PurgePage = () => <ZoneGate>{(zone) => <Purge zone={zone} />}</ZoneGate>;

const KINDS = [
  ["files", "Addresses", "https://shop.example/style.css"],
  ["hosts", "Hosts", "www.shop.example"],
  ["prefixes", "Prefixes of addresses", "shop.example/images"],
  ["tags", "Values of the Cache-Tag header", "product-17"],
] as const;
type Kind = (typeof KINDS)[number][0];

/** Removes responses from the edge's cache. */
function Purge({ zone }: { readonly zone: Zone }) {
  const [kind, setKind] = useState<Kind>("files");
  const [text, setText] = useState("");
  const [isAsking, setAsking] = useState(false);
  const write = useWrite<CachePurged>();
  const items = [...new Set(text.split("\n").map((line) => line.trim()))].filter(Boolean);
  const purge = (body: object): void =>
    write.mutate({ method: "POST", path: `/zones/${zone.id}/purge_cache`, body }, { onSuccess: () => setAsking(false) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    purge({ [kind]: items });
  };
  return (
    <>
      <PageHead title="Purge the cache" lead="The edge fetches a purged response from the origin again.">
        <Button variant="default" onClick={() => setAsking(true)}>
          Purge everything
        </Button>
      </PageHead>
      {write.isSuccess && !isAsking && (
        <div className={tools["inset"]}>
          <Notice tone="good">Purged. The edge does not answer with these responses any more.</Notice>
        </div>
      )}
      <Card title="Purge a part">
        <form className={tools["form"]} onSubmit={submit}>
          <Choice label="Purge by" value={kind} options={KINDS.map(([name, title]) => [name, title] as const)} onChange={setKind} />
          <Textarea
            label={KINDS.find(([name]) => name === kind)?.[1] ?? ""}
            description="One on each line"
            placeholder={KINDS.find(([name]) => name === kind)?.[2] ?? ""}
            rows={6}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            spellCheck={false}
            required
          />
          {write.error && !isAsking && (
            <Notice tone="bad">
              <Fault error={write.error} />
            </Notice>
          )}
          <div className={tools["row"]}>
            <Button type="submit" disabled={items.length === 0} loading={write.isPending && !isAsking} loaderProps={{ type: "dots" }}>
              {items.length > 1 ? `Purge ${count(items.length)}` : "Purge"}
            </Button>
          </div>
        </form>
      </Card>
      {isAsking && (
        <Confirm
          title={`Purge everything of ${zone.name}?`}
          action="Purge everything"
          error={write.error}
          isPending={write.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => purge({ purge_everything: true })}
        >
          Every response is fetched from the origin again, so the origin gets the full load until the cache is filled.
        </Confirm>
      )}
    </>
  );
}
