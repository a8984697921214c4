import type { Sealer } from "#kernel/crypto/seal.ts";
import { HIDDEN, type OtelEndpoint, type StoredOtelEndpoint } from "#model/gateways/gateway-otel.ts";
import { isSendable } from "./header-fields.ts";
import { invalidInput } from "./objects.ts";

/**
 * Endpoints in stored form. Values that are sent back hidden keep the value of the endpoint with the same address. Throws
 * `gateway_input_invalid` for invalid addresses and header fields.
 */
export function storedOtel(
  endpoints: readonly OtelEndpoint[],
  before: readonly StoredOtelEndpoint[],
  sealer: Sealer,
  context: string,
): StoredOtelEndpoint[] {
  return endpoints.map(({ url, headers = {}, authorization, content_type = "json" }, index) => {
    const place = `/otel/${index}`;
    checkUrl(url, `${place}/url`);
    const known = before.find((endpoint) => endpoint.url === url);
    const kept = known === undefined ? {} : (JSON.parse(sealer.open(known.secret, context).toString("utf8")) as Record<string, string>);
    const fields: Record<string, string> = {};
    const add = (name: string, value: string, source: string): void => {
      const given = value === HIDDEN ? kept[name.toLowerCase()] : value;
      if (given === undefined) throw invalidInput(source, `No value of ${name} is stored: send the value.`);
      if (!isSendable(name, given))
        throw invalidInput(source, "Header names and values must be printable ASCII; hop-by-hop fields are not allowed.");
      fields[name.toLowerCase()] = given;
    };
    for (const [name, value] of Object.entries(headers)) add(name, value, `${place}/headers/${name}`);
    const header_names = Object.keys(fields);
    const has_authorization = authorization !== undefined && authorization !== "";
    if (has_authorization) add("authorization", authorization, `${place}/authorization`);
    return { url, content_type, header_names, has_authorization, secret: sealer.seal(JSON.stringify(fields), context) };
  });
}

function checkUrl(text: string, source: string): void {
  const url = URL.parse(text);
  if (
    url === null ||
    (url.protocol !== "https:" && url.protocol !== "http:") ||
    url.username !== "" ||
    url.password !== "" ||
    url.hash !== ""
  )
    throw invalidInput(source, "An endpoint must be an http or https URL without credentials or fragment.");
}
