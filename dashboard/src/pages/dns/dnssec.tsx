import { Button } from "@mantine/core";
import { useState } from "react";
import type { Dnssec, DnssecRollover } from "#model/dns/dnssec.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { Badge, Card, Facts, Failed, Fault, Loading, Notice, PageHead, type Tone } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";

export const DnssecPage = () => <ZoneGate>{(zone) => <DnssecOf zone={zone} />}</ZoneGate>;

const WORDS: Readonly<Record<string, readonly [string, Tone]>> = {
  active: ["signed, and the parent says so", "good"],
  pending: ["signed; the parent does not say so yet", "warn"],
  disabled: ["not signed", "plain"],
  "pending-disabled": ["still signed, until caches have forgotten", "warn"],
  error: ["the parent's DS record matches none of the zone's keys", "bad"],
};

function DnssecOf({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/dnssec`;
  const read = useRead<Dnssec>(path);
  const rollover = useRead<DnssecRollover>(`${path}/rollover`);
  const write = useWrite<Dnssec>(path);
  const [isEnding, setEnding] = useState(false);
  const dnssec = read.data?.result;
  const turn = (status: "active" | "disabled"): void =>
    write.mutate(
      { method: "PATCH", path, body: { status } },
      {
        onSuccess: () => {
          setEnding(false);
          // The button that had the focus makes room for another.
          document.querySelector<HTMLElement>("#main")?.focus();
        },
      },
    );
  const [words, tone] = WORDS[dnssec?.status ?? ""] ?? [dnssec?.status ?? "", "plain"];
  const parent = rollover.data?.result.parent;
  const isSigned = dnssec !== undefined && dnssec.status !== "disabled";
  return (
    <>
      <PageHead title="DNSSEC" lead="Signatures let resolvers see that an answer is yours.">
        {dnssec &&
          (isSigned ? (
            <Button variant="default" onClick={() => setEnding(true)}>
              Turn off
            </Button>
          ) : (
            <Button loading={write.isPending} loaderProps={{ type: "dots" }} onClick={() => turn("active")}>
              Sign the zone
            </Button>
          ))}
      </PageHead>
      <Card title="State" aside={dnssec && <Badge tone={tone}>{words}</Badge>}>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !dnssec ? (
          <Loading />
        ) : (
          <div className={tools["stack"]}>
            {write.error && !isEnding && (
              <Notice tone="bad">
                <Fault error={write.error} />
              </Notice>
            )}
            {dnssec.ds === null ? (
              <p className={tools["hint"]}>The zone has no key. Sign it, then give the registrar the DS record that appears here.</p>
            ) : (
              <>
                <p className={tools["hint"]}>
                  Enter this DS record at the registrar. Some registrars take it by themselves from the CDS record.
                </p>
                <CopyBlock label="the DS record" text={dnssec.ds} />
                <Facts
                  of={[
                    [
                      "Key tag",
                      <span key="k" className="num">
                        {dnssec.key_tag}
                      </span>,
                    ],
                    ["Algorithm", `${dnssec.algorithm ?? ""} ${dnssec.key_type ?? ""}`],
                    ["Digest", `${dnssec.digest_type ?? ""} ${dnssec.digest_algorithm ?? ""}`],
                    ["Flags", String(dnssec.flags ?? "")],
                  ]}
                />
              </>
            )}
          </div>
        )}
      </Card>
      {parent && isSigned && (
        <Card title="State at the parent zone">
          <Facts
            of={[
              ["DS records of our keys", parent.key_tags.length === 0 ? "none yet" : parent.key_tags.join(", ")],
              [
                "DS records of other keys",
                parent.other_key_tags.length === 0 ? (
                  "none"
                ) : (
                  <Badge key="o" tone="bad">
                    {parent.other_key_tags.join(", ")}
                  </Badge>
                ),
              ],
              ["Last looked", <Time key="s" of={parent.seen_on} />],
              ...(parent.failure === null ? [] : [["Why that failed", parent.failure] as const]),
              ["Change of keys", rollover.data?.result.stage === "none" ? "none under way" : (rollover.data?.result.stage ?? "")],
            ]}
          />
        </Card>
      )}
      {isEnding && (
        <Confirm
          title="Stop signing?"
          action="Turn DNSSEC off"
          error={write.error}
          isPending={write.isPending}
          onClose={() => setEnding(false)}
          onConfirm={() => turn("disabled")}
        >
          Remove the DS record at the registrar first and wait a day. While the parent names a key and nothing is signed, resolvers that
          check refuse the zone.
        </Confirm>
      )}
    </>
  );
}
