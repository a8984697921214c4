import { Button } from "@mantine/core";
import { useState } from "react";
import type { CertificatePack } from "#model/certificates/certificate-pack.ts";
import type { CustomCertificate } from "#model/certificates/custom-certificate.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { CopyRecord } from "../../parts/copy-record.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, Notice, PageHead, type Tone } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { UploadCertificate } from "./upload-certificate.tsx";

export const CertificatesPage = () => <ZoneGate>{(zone) => <Certificates zone={zone} />}</ZoneGate>;

/** The words for each state; a state that is missing here is shown as it is. */
const STATES: Readonly<Record<string, readonly [string, Tone]>> = {
  active: ["in use", "good"],
  initializing: ["being ordered", "warn"],
  initializing_timed_out: ["could not be ordered", "bad"],
  pending_validation: ["the authority checks the name", "warn"],
  pending_issuance: ["the authority signs it", "warn"],
  pending_deployment: ["on its way to the edge", "warn"],
  validation_timed_out: ["the authority could not check the name", "bad"],
  issuance_timed_out: ["the authority did not sign it", "bad"],
  deployment_timed_out: ["did not reach the edge", "bad"],
  pending_expiration: ["expires soon", "warn"],
  expired: ["expired", "bad"],
};

/** The certificates of a zone's own names: issued ones with what they wait for, and uploaded ones. */
function Certificates({ zone }: { readonly zone: Zone }) {
  const packs = useRead<CertificatePack[]>(`/zones/${zone.id}/ssl/certificate_packs?status=all&per_page=50`, { everyMs: 15_000 });
  const base = `/zones/${zone.id}/custom_certificates`;
  const uploaded = useRead<CustomCertificate[]>(`${base}?per_page=50`);
  const remove = useWrite<{ id: string }>(`/zones/${zone.id}/`);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<CustomCertificate>();
  const issued = packs.data?.result.filter(({ type }) => type === "universal") ?? [];
  const waiting = issued.filter(({ status }) => status !== "active");
  return (
    <>
      <PageHead title="Certificates" lead="Certificates for the names of this zone. Custom hostnames have their own.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Upload a certificate
        </Button>
      </PageHead>
      <Card title="Issued for the zone">
        {packs.error ? (
          <Failed error={packs.error} onAgain={() => void packs.refetch()} />
        ) : !packs.data ? (
          <Loading />
        ) : issued.length === 0 ? (
          <Empty title="No certificate is issued yet">
            <p>The server orders one as soon as the zone is active and an authority is configured.</p>
          </Empty>
        ) : (
          <List<CertificatePack>
            label="Issued certificates"
            rows={issued}
            keyOf={({ id }) => id}
            columns={[
              { head: "Names", width: "auto", cell: ({ hosts }) => hosts.join(", ") },
              { head: "State", width: "auto", cell: ({ status }) => <State status={status} /> },
              {
                head: "Authority",
                width: "auto",
                isMinor: true,
                cell: ({ certificate_authority }) => authorityName(certificate_authority),
              },
              { head: "Until", width: "110px", cell: ({ certificates }) => <Time of={certificates[0]?.expires_on} as="day" /> },
            ]}
          />
        )}
      </Card>
      {waiting.map((pack) => (
        <Waiting key={pack.id} pack={pack} />
      ))}
      <Card title="Uploaded">
        {uploaded.error ? (
          <Failed error={uploaded.error} onAgain={() => void uploaded.refetch()} />
        ) : !uploaded.data ? (
          <Loading />
        ) : uploaded.data.result.length === 0 ? (
          <p className={tools["quiet"]}>None. An uploaded certificate is used instead of an issued one for the names that it has.</p>
        ) : (
          <List<CustomCertificate>
            label="Uploaded certificates"
            rows={uploaded.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Names", width: "auto", cell: ({ hosts }) => hosts.join(", ") },
              { head: "State", width: "auto", cell: ({ status }) => <State status={status} /> },
              { head: "Issuer", width: "auto", isMinor: true, cell: ({ issuer }) => issuer },
              { head: "Until", width: "110px", cell: ({ expires_on }) => <Time of={expires_on} as="day" /> },
              {
                head: "Action",
                width: "90px",
                cell: (certificate) => (
                  <Button variant="default" size="compact-xs" onClick={() => setRemoving(certificate)}>
                    Delete
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {isAdding && <UploadCertificate zone={zone} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Delete the certificate for ${removing.hosts.join(", ")}?`}
          action="Delete the certificate"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${base}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Visitors of these names get another certificate that covers them, or cannot connect over HTTPS if there is none.
        </Confirm>
      )}
    </>
  );
}

function State({ status }: { readonly status: string }) {
  const [words, tone] = STATES[status] ?? [status.replaceAll("_", " "), "plain"];
  return <Badge tone={tone}>{words}</Badge>;
}

/** The records and errors that an order waits for. The nameserver of the zone answers its TXT records by itself; another one must be told. */
function Waiting({ pack }: { readonly pack: CertificatePack }) {
  const errors = pack.validation_errors ?? [];
  const records = (pack.validation_records ?? []).filter(({ txt_name, txt_value }) => txt_name !== undefined && txt_value !== undefined);
  if (errors.length === 0 && records.length === 0) return null;
  return (
    <Card title={`Why ${pack.hosts[0] ?? "it"} is not active yet`}>
      <div className={tools["stack"]}>
        {errors.map(({ message }) => (
          <Notice key={message} tone="bad">
            {message}
          </Notice>
        ))}
        {records.length > 0 && (
          <p className={tools["hint"]}>
            The authority looks for these records. This server&apos;s nameserver answers them; create them where the zone is served
            elsewhere.
          </p>
        )}
        {records.map(({ txt_name, txt_value }) => (
          <CopyRecord key={`${txt_name} ${txt_value}`} type="TXT" name={txt_name ?? ""} value={txt_value ?? ""} />
        ))}
      </div>
    </Card>
  );
}

const authorityName = (name: string | undefined): string => (name === "local" ? "this installation" : name || "not chosen yet");
