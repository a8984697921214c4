import type { GeoView, RequestView } from "#rules/views.ts";
import type { Field } from "./field.ts";
import { BOOLEAN, INTEGER, IP, STRING, type Value, type ValueType } from "#rules/expression/values/value-type.ts";

type Read = (request: RequestView) => Value | undefined;

const row = (name: string, type: ValueType, summary: string, read: Read): Field => ({ name, type, side: "request", summary, read });

/** Fields of the client's location have an older name with `geoip`. */
const places: readonly (readonly [name: string, type: ValueType, key: keyof GeoView, summary: string, older?: string])[] = [
  ["asnum", INTEGER, "asn", "Number of the client's autonomous system.", "asnum"],
  ["city", STRING, "city", "City of the client."],
  ["continent", STRING, "continent", "Continent of the client, two letters.", "continent"],
  ["country", STRING, "country", "Country of the client, two letters (ISO 3166-1).", "country"],
  ["is_in_european_union", BOOLEAN, "is_in_european_union", "Whether that country is in the European Union.", "is_in_european_union"],
  ["lat", STRING, "latitude", "Latitude of the client."],
  ["lon", STRING, "longitude", "Longitude of the client."],
  ["metro_code", STRING, "metro_code", "Metro code of the client."],
  ["postal_code", STRING, "postal_code", "Postal code of the client."],
  ["region", STRING, "region", "Region of the client by name."],
  ["region_code", STRING, "region_code", "Region of the client by code."],
  ["subdivision_1_iso_code", STRING, "subdivision_1", "First-level subdivision of the client (ISO 3166-2).", "subdivision_1_iso_code"],
  ["subdivision_2_iso_code", STRING, "subdivision_2", "Second-level subdivision of the client (ISO 3166-2).", "subdivision_2_iso_code"],
  ["timezone.name", STRING, "timezone", "Time zone of the client."],
];

const placeFields = places.flatMap(([name, type, key, summary, older]) => {
  const read: Read = (request) => request.place?.[key];
  const field = row(`ip.src.${name}`, type, summary, read);
  return older === undefined ? [field] : [field, row(`ip.geoip.${older}`, type, `Older name of ip.src.${name}.`, read)];
});

/** Values for a connection without a client certificate; the edge does not ask for one. */
const certificateTexts = (
  "fingerprint_sha1 fingerprint_sha256 issuer_dn issuer_dn_legacy issuer_dn_rfc2253 issuer_serial issuer_ski not_after not_before " +
  "serial ski subject_dn subject_dn_legacy subject_dn_rfc2253 rfc9440 chain_rfc9440"
).split(" ");
const certificateFlags = ["presented", "verified", "revoked", "rfc9440_too_large", "chain_rfc9440_too_large"];

const certificateFields = [
  ...certificateTexts.map((name) =>
    row(
      `cf.tls_client_auth.cert_${name}`,
      STRING,
      "Of the client's certificate; always empty because the edge does not request one.",
      () => "",
    ),
  ),
  ...certificateFlags.map((name) =>
    row(
      `cf.tls_client_auth.cert_${name}`,
      BOOLEAN,
      "Of the client's certificate; always false because the edge does not request one.",
      () => false,
    ),
  ),
];

/** Names in rules of accounts, which often end in `cf.zone.plan eq "ENT"`. */
const PLANS: Readonly<Record<NonNullable<RequestView["zone_plan"]>, string>> = {
  free: "FREE",
  pro: "PRO",
  business: "BIZ",
  enterprise: "ENT",
};

export const CONNECTION_FIELDS: readonly Field[] = [
  row(
    "cf.edge.client_port",
    INTEGER,
    "The client's port; behind a load balancer, the one in its PROXY header.",
    (request) => request.client_port,
  ),
  row(
    "cf.edge.client_tcp",
    BOOLEAN,
    "Whether the request arrived over TCP; always true because HTTP/3 is not supported.",
    (request) => request.http_version !== "HTTP/3",
  ),
  row("cf.edge.l4.delivery_rate", INTEGER, "Bytes per second to the client; always 0 because it is not measured.", () => 0),
  row("cf.edge.server_ip", IP, "The address at which the request arrived.", (request) => request.server_ip),
  row("cf.edge.server_port", INTEGER, "The port at which the request arrived.", (request) => request.server_port),
  row(
    "cf.hostname.metadata",
    STRING,
    "Custom metadata of the custom hostname, as JSON; empty where there is none.",
    (request) => request.hostname_metadata ?? "",
  ),
  row("cf.random_seed", STRING, "16 random bytes of the request, for uuidv4().", (request) => request.random_seed),
  row("cf.ray_id", STRING, "The identifier of the request.", (request) => request.ray_id),
  row("cf.threat_score", INTEGER, "Always 0, as at the vendor.", () => 0),
  row("cf.timings.client_quic_rtt_msec", INTEGER, "Round-trip time over QUIC; always 0 because HTTP/3 is not supported.", () => 0),
  row("cf.timings.worker_msec", INTEGER, "Time spent in edge functions; always 0 because the edge does not run functions.", () => 0),
  row("cf.tls_cipher", STRING, "Cipher of the connection, by OpenSSL's name.", (request) => request.tls?.cipher),
  row("cf.tls_version", STRING, "Version of TLS: TLSv1.2 or TLSv1.3.", (request) => request.tls?.version),
  row(
    "cf.worker.upstream_zone",
    STRING,
    "Zone of the edge function that sent the request; always empty because the edge does not run functions.",
    () => "",
  ),
  row("cf.zone.name", STRING, "Name of the zone.", (request) => request.zone_name),
  row("cf.zone.plan", STRING, "Plan of the zone: FREE, PRO, BIZ or ENT.", (request) =>
    request.zone_plan === undefined ? undefined : PLANS[request.zone_plan],
  ),
  row("ip.src", IP, "Address of the client.", (request) => request.client_ip),
  row("ssl", BOOLEAN, "Whether the client's connection is encrypted.", (request) => request.scheme === "https"),
  ...placeFields,
  ...certificateFields,
];
