import type { CustomHostname, ValidationRecord } from "#model/hostnames/custom-hostname.ts";
import type { ApiClient } from "../api-client.ts";
import { CliError, columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { allPages } from "../zone/all-pages.ts";
import { inZone } from "../zone/in-zone.ts";
import type { ApiOptions } from "../zone/zone-api.ts";

const PER_PAGE = 50;

export const hostnameList = (zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> =>
  inZone(zone, options, flags, async ({ api, path, json, name }) => {
    const hostnames = await allPages<CustomHostname>(api, `${path}/custom_hostnames`, PER_PAGE);
    const rows = hostnames.map((one) => [
      ...[printable(one.hostname), one.status, one.ssl?.status ?? "none", one.ssl?.expires_on?.slice(0, 10) ?? ""],
      printable(faultsOf(one)[0] ?? ""),
    ]);
    print(json, { zone: name, hostnames }, columns([["HOSTNAME", "STATUS", "CERTIFICATE", "EXPIRES", "PROBLEM"], ...rows]));
  });

export const hostnameShow = (zone: string, hostname: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> =>
  inZone(zone, options, flags, async ({ api, path, json }) => {
    const found = await findHostname(api, path, hostname);
    print(json, { hostname: found }, linesOf(found));
  });

export const hostnameAdd = (
  zone: string,
  hostname: string,
  { method, ...options }: ApiOptions & { readonly method: string },
  flags: readonly string[],
): Promise<ExitCode> => {
  if (method !== "http" && method !== "txt") throw new CliError("--method takes http or txt", EXIT.usage);
  return inZone(zone, options, flags, async ({ api, path, json }) => {
    const created = (await api.call("POST", `${path}/custom_hostnames`, { hostname, ssl: { method, type: "dv" } })) as CustomHostname;
    print(json, { hostname: created }, linesOf(created));
  });
};

export const hostnameDelete = (zone: string, hostname: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> =>
  inZone(zone, options, flags, async ({ api, path, json }) => {
    const { id } = await findHostname(api, path, hostname);
    await api.call("DELETE", `${path}/custom_hostnames/${id}`);
    print(json, { deleted: hostname }, [`deleted ${printable(hostname)}`]);
  });

async function findHostname(api: ApiClient, path: string, hostname: string): Promise<CustomHostname> {
  const [found] = (await api.call("GET", `${path}/custom_hostnames?hostname=${encodeURIComponent(hostname)}`)) as readonly CustomHostname[];
  if (found === undefined) throw new CliError(`the zone has no custom hostname ${printable(hostname)}`);
  return found;
}

const faultsOf = ({ verification_errors: unverified = [], ssl }: CustomHostname): readonly string[] => [
  ...unverified,
  ...(ssl?.validation_errors ?? []).map(({ message }) => message),
];

function linesOf(hostname: CustomHostname): readonly string[] {
  const { ownership_verification: txt, ssl } = hostname;
  const records = [
    ...(txt === undefined || hostname.status === "active" ? [] : [`  ${txt.name} TXT "${txt.value}"`]),
    ...(ssl?.status === "active" ? [] : (ssl?.validation_records ?? []).flatMap(recordLines)),
  ];
  return [
    `${hostname.hostname}: ${hostname.status}, certificate ${ssl?.status ?? "none"}`,
    ...faultsOf(hostname).map((fault) => `  problem: ${fault}`),
    ...(records.length === 0 ? [] : ["Its owner proves it by:", ...records]),
  ].map(printable);
}

const recordLines = ({ txt_name, txt_value, http_url, cname, cname_target }: ValidationRecord): readonly string[] => [
  ...(txt_name === undefined ? [] : [`  ${txt_name} TXT "${txt_value}"`]),
  ...(cname === undefined ? [] : [`  ${cname} CNAME ${cname_target}`]),
  ...(http_url === undefined ? [] : [`  a CNAME or address that leads here, so that ${http_url} is answered`]),
];
