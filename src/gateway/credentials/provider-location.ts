import { objectOf, parsedJson, textOf } from "#gateway/http/json.ts";
import type { LocationFacts } from "#gateway/request/provider-location-facts.ts";

const NAME = /^[A-Za-z0-9:._-]{1,100}$/;

/** The place that a key file names: `project_id` and `region` of a service account, `region` of an access key. */
export function locationFactsOf(secret: string): LocationFacts {
  const file = secret.trimStart().startsWith("{") ? objectOf(parsedJson(secret)) : undefined;
  const [project, region] = [textOf(file?.["project_id"]), textOf(file?.["region"])];
  return { ...(project && NAME.test(project) && { project }), ...(region && NAME.test(region) && { region }) };
}
