import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { CustomCertificate } from "#model/certificates/custom-certificate.ts";
import type { Zone } from "#model/zones/zone.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";

const FIELDS = [
  ["certificate", "Certificate", "PEM, the certificate first and then its chain", "-----BEGIN CERTIFICATE-----"],
  ["private_key", "Private key", "PEM. It is stored encrypted and never shown again.", "-----BEGIN PRIVATE KEY-----"],
] as const;

type Pems = Readonly<Record<(typeof FIELDS)[number][0], string>>;

export function UploadCertificate({ zone, onClose }: { readonly zone: Zone; readonly onClose: () => void }) {
  const [pems, setPems] = useState<Pems>({ certificate: "", private_key: "" });
  const write = useWrite<CustomCertificate>(`/zones/${zone.id}/`);
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = FIELDS.some(([name]) => faults[name] !== undefined);
  const submit = (): void => {
    write.mutate({ method: "POST", path: `/zones/${zone.id}/custom_certificates`, body: pems }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Upload a certificate"
      size={560}
      onClose={onClose}
      submit="Upload the certificate"
      onSubmit={submit}
      isPending={write.isPending}
    >
      {FIELDS.map(([name, label, description, placeholder]) => (
        <Textarea
          key={name}
          label={label}
          description={description}
          placeholder={placeholder}
          rows={6}
          value={pems[name]}
          error={faults[name]?.message}
          onChange={({ currentTarget: { value } }) => setPems((old) => ({ ...old, [name]: value }))}
          spellCheck={false}
          autoComplete="off"
          required
        />
      ))}
      {write.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
