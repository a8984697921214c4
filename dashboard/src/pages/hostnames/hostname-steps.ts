import type { CustomHostname, FallbackOrigin } from "#model/hostnames/custom-hostname.ts";

export interface DnsToMake {
  readonly type: "CNAME" | "TXT";
  readonly name: string;
  readonly value: string;
}

export type StepState = "done" | "waiting" | "failed";

/** One thing that has to hold before visitors are served: what is expected, what was seen, and who has to do what. */
export interface HostnameStep {
  readonly id: "origin" | "name" | "validation" | "certificate";
  readonly title: string;
  readonly state: StepState;
  readonly seen: string;
  readonly hint?: string;
  readonly records: readonly DnsToMake[];
  /** Records that replace `records` for good, where those change with each renewal. */
  readonly instead?: readonly DnsToMake[];
  /** An answer over HTTP that proves the same. */
  readonly http?: { readonly url: string; readonly body: string };
}

/** In the order in which they can be done. `zone` is the name to point at while there is no fallback origin. */
export function stepsOf(one: CustomHostname, zone: string, fallback: FallbackOrigin | undefined): readonly HostnameStep[] {
  const { ssl, ownership_verification: owner, ownership_verification_http: ownerHttp, verification_errors: problems = [] } = one;
  const isActive = one.status === "active";
  const hasOrigin = one.custom_origin_server !== undefined || fallback !== undefined;
  const isIssued = ssl?.status === "active";
  const faults = (ssl?.validation_errors ?? []).map(({ message }) => message);
  const isStopped = one.status === "blocked" || one.status === "moved";
  const steps: HostnameStep[] = [
    {
      id: "origin",
      title: "The zone has an origin for it",
      state: hasOrigin ? "done" : "waiting",
      seen: hasOrigin ? `Requests go to ${one.custom_origin_server ?? fallback?.origin}.` : "The zone has no fallback origin.",
      ...(hasOrigin ? {} : { hint: "This step is yours: choose a name of the zone whose traffic goes through the edge." }),
      records: [],
    },
    {
      id: "name",
      title: "The customer points the name here",
      state: isActive ? "done" : isStopped ? "failed" : "waiting",
      seen: isActive
        ? "The name was seen to point here, or its owner has proven it."
        : isStopped
          ? (problems[0] ?? `The hostname is ${one.status.replaceAll("_", " ")}.`)
          : "Neither of these records was found yet.",
      ...(isActive ? {} : { hint: "The CNAME alone is enough. The TXT record proves the ownership before visitors are moved." }),
      records: isActive
        ? []
        : [
            { type: "CNAME", name: one.hostname, value: fallback?.origin ?? zone },
            ...(owner ? [{ type: "TXT" as const, name: owner.name, value: owner.value }] : []),
          ],
      ...(isActive || !ownerHttp ? {} : { http: { url: ownerHttp.http_url, body: ownerHttp.http_body } }),
    },
  ];
  if (!ssl) return steps;
  const records = (ssl.validation_records ?? []).flatMap(recordsOf);
  const delegation = ssl.method === "txt" ? (ssl.dcv_delegation_records ?? []).flatMap(recordsOf) : [];
  const served = (ssl.validation_records ?? []).find(({ http_url }) => http_url !== undefined);
  const isValidated = isIssued || ["pending_issuance", "pending_deployment"].includes(ssl.status);
  return [
    ...steps,
    {
      id: "validation",
      title: `The certificate authority sees who owns the name (${ssl.method === "txt" ? "by DNS" : "over HTTP"})`,
      state: isValidated ? "done" : one.status === "caa_error" || faults.length > 0 ? "failed" : "waiting",
      seen: isValidated ? "Shown." : faults.join(" ") || WAITING[ssl.status] || `The certificate is ${ssl.status.replaceAll("_", " ")}.`,
      ...(isValidated || ssl.method === "txt" ? {} : { hint: "Nothing to do: the edge answers by itself once the name points here." }),
      // The TXT record is known once the certificate has been ordered; the CNAME can be made before.
      records: isValidated ? [] : records.length > 0 ? records : delegation,
      ...(isValidated || records.length === 0 || delegation.length === 0 ? {} : { instead: delegation }),
      ...(isValidated || served?.http_url === undefined ? {} : { http: { url: served.http_url, body: served.http_body ?? "" } }),
    },
    {
      id: "certificate",
      title: "The certificate is issued",
      state: isIssued ? "done" : "waiting",
      seen: isIssued ? `By ${ssl.issuer || "the authority"}.` : `It is ${ssl.status.replaceAll("_", " ")}.`,
      records: [],
    },
  ];
}

type Validation = NonNullable<NonNullable<CustomHostname["ssl"]>["validation_records"]>[number];

const recordsOf = ({ txt_name, txt_value, cname, cname_target }: Validation): readonly DnsToMake[] => [
  ...(txt_name !== undefined && txt_value !== undefined ? [{ type: "TXT" as const, name: txt_name, value: txt_value }] : []),
  ...(cname !== undefined && cname_target !== undefined ? [{ type: "CNAME" as const, name: cname, value: cname_target }] : []),
];

const WAITING: Readonly<Record<string, string>> = {
  initializing: "The certificate is being ordered.",
  pending_validation: "The authority did not find the proof yet.",
};

/** Everything that the customer has to do, as text to send. */
export const messageFor = (one: CustomHostname, steps: readonly HostnameStep[]): string =>
  [
    `Please make ${steps.some(({ records }) => records.length > 1) ? "these DNS records" : "this DNS record"} for ${one.hostname}:`,
    "",
    ...steps.flatMap(({ records }) =>
      records.map(({ type, name, value }) => `${name}. ${type} ${type === "TXT" ? `"${value}"` : `${value}.`}`),
    ),
  ].join("\n");
