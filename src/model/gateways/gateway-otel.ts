import { Type, type Static } from "typebox";

/** Replaces stored secrets in responses; sent back, it keeps the stored value. */
export const HIDDEN = "********";

const ContentType = Type.Enum(["json", "protobuf"], { default: "json" });
const Endpoint = Type.Object({
  url: Type.String({
    maxLength: 2048,
    format: "uri",
    description: "An OTLP endpoint over HTTP, such as https://collector.example/v1/traces.",
  }),
  headers: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Type.String({ maxLength: 4096 }), {
      maxProperties: 32,
      description: `Headers of each request to the endpoint; ${HIDDEN} keeps the stored value.`,
    }),
  ),
  authorization: Type.Optional(
    Type.String({ maxLength: 256, description: `Authorization header of each request to the endpoint; ${HIDDEN} keeps the stored value.` }),
  ),
  content_type: Type.Optional(ContentType),
});

/** Endpoints that receive a gateway's spans. */
export const Otel = Type.Array(Endpoint, { maxItems: 5 });
export type OtelEndpoint = Static<typeof Endpoint>;

/** The stored form: values of header fields are sealed with the context `gateway-otel:{account_id}/{gateway_id}`. */
export interface StoredOtelEndpoint {
  readonly url: string;
  readonly content_type: "json" | "protobuf";
  /** Names of the header fields, and the sealed JSON object of their values. */
  readonly header_names: readonly string[];
  readonly has_authorization: boolean;
  readonly secret: string;
}

export const otelContext = (accountId: string, gatewayId: string): string => `gateway-otel:${accountId}/${gatewayId}`;

export const otelView = (endpoints: readonly StoredOtelEndpoint[]): OtelEndpoint[] =>
  endpoints.map(({ url, content_type, header_names, has_authorization }) => ({
    url,
    headers: Object.fromEntries(header_names.map((name) => [name, HIDDEN])),
    ...(has_authorization ? { authorization: HIDDEN } : {}),
    content_type,
  }));
