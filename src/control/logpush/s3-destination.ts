import { createHash } from "node:crypto";
import { type OutboundAddressAllowed, readOutboundUrl } from "#control/outbound.ts";
import { signAws } from "#wire/http/sign-aws.ts";
import { invalidDestination, type LogDestination } from "./destination.ts";

/** Bucket and directory, limited to characters that signatures do not escape. */
// linear: pumped
const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?:[A-Za-z0-9._~-]|\{DATE\})*)*)$/;
const REGION = /^[a-z0-9-]{1,64}$/;
const KNOWN: ReadonlySet<string> = new Set(["region", "endpoint", "access-key-id", "secret-access-key", "sse"]);
const DATE = "{DATE}";

/**
 * Parses `s3://bucket/directory?region=…&endpoint=…&access-key-id=…&secret-access-key=…`: each file becomes an object,
 * uploaded with AWS Signature Version 4 to `https://endpoint/bucket/…`; `{DATE}` in the directory is the day as
 * `YYYYMMDD`. Without an endpoint, uses Amazon's for the region. Throws `logpush_invalid`.
 */
export function readS3Destination(text: string, allowed: OutboundAddressAllowed): LogDestination {
  const [place = "", query = ""] = text.split("?", 2);
  const [, bucket, directory = ""] = PLACE.exec(place) ?? [];
  if (bucket === undefined)
    throw invalidDestination("must name a bucket and a directory of letters, digits and ._~-: s3://bucket/directory?region=…");
  const given = new URLSearchParams(query);
  const value = (name: string): string => given.get(name) ?? "";
  for (const name of given.keys()) if (!KNOWN.has(name)) throw invalidDestination(`has the unknown parameter ${name}`);
  const region = value("region");
  if (!REGION.test(region)) throw invalidDestination("must have a region");
  const key = { accessKeyId: value("access-key-id"), secretAccessKey: value("secret-access-key") };
  if (key.accessKeyId === "" || key.secretAccessKey === "") throw invalidDestination("must have access-key-id and secret-access-key");
  const sse = value("sse");
  if (sse !== "" && sse !== "AES256") throw invalidDestination("must have sse=AES256 or no sse");
  const endpoint = endpointOf(value("endpoint") || `s3.${region}.amazonaws.com`, allowed);

  return {
    request: ({ name, day, form, body }, nowMs) => {
      const parts = directory.replaceAll(DATE, day).split("/").filter(Boolean);
      const target = `/${[bucket, ...parts, name].join("/")}`;
      const headers = {
        "content-type": form === "gzip" ? "application/gzip" : "text/plain; charset=utf-8",
        "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
        ...(sse === "" ? {} : { "x-amz-server-side-encryption": sse }),
      };
      const asked = { method: "PUT", host: endpoint.host, target, headers, body, region, service: "s3", atMs: nowMs };
      return { method: "PUT", url: new URL(target, endpoint), headers: { ...headers, ...signAws(asked, key) } };
    },
  };
}

/** An address with or without a scheme; a private network may use http. */
function endpointOf(text: string, allowed: OutboundAddressAllowed): URL {
  const url = readOutboundUrl(text.includes("://") ? text : `https://${text}`, allowed);
  if (!(url instanceof URL)) throw invalidDestination(`endpoint ${url.problem}`);
  if (url.pathname !== "/" || url.search !== "") throw invalidDestination("endpoint must not have a path");
  return url;
}
