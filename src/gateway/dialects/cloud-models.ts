import type { LocationFacts } from "#gateway/request/provider-location-facts.ts";

export interface VertexModel extends LocationFacts {
  /** `google`, `anthropic`, `meta` … */
  readonly publisher: string;
  readonly name: string;
}

// linear: pumped
const VERTEX_NAME = /^(?:projects\/([^/]+)\/)?(?:locations\/([a-z0-9-]{1,40})\/)?publishers\/([a-z0-9-]{1,40})\/models\/([^/]+)$/;

/** `projects/{project}/locations/{region}/publishers/{publisher}/models/{name}` or its end, `{publisher}/{name}`, or a bare name. */
export function vertexModel(model: string): VertexModel {
  const [whole, project, region, publisher = "", name = ""] = VERTEX_NAME.exec(model) ?? [];
  if (whole !== undefined) return { ...(project && { project }), ...(region && { region }), publisher, name };
  const slash = model.indexOf("/");
  if (slash > 0) return { publisher: model.slice(0, slash), name: model.slice(slash + 1) };
  return { publisher: model.startsWith("claude") ? "anthropic" : "google", name: model };
}

const REGION = "[a-z]{2}(?:-[a-z]+){1,3}-\\d";
// linear: pumped
const BEDROCK_NAME = new RegExp(`^(?:(${REGION})/)?(arn:aws[a-z-]*:bedrock:(${REGION}):.*|.*)$`);

/** `{region}/{id}` or the id of a model, a profile or an ARN, which names its region itself. */
export function bedrockModel(model: string): LocationFacts & { readonly name: string } {
  const [, region, name = model, own] = BEDROCK_NAME.exec(model) ?? [];
  const told = region ?? own;
  return { name, ...(told === undefined ? {} : { region: told }) };
}
