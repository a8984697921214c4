// linear: pumped
const RESOURCE = /^\/([a-z0-9][a-z0-9-]{0,62})(\/.*)$/i;
const DEPLOYMENT = "[A-Za-z0-9._-]{1,64}";

/**
 * Forms of the path behind the resource, and the path at Azure. Its own clients append their paths to whatever part of the
 * address the base URL has: nothing, `/openai`, or the deployment. The first form counts.
 */
const FORMS: readonly (readonly [RegExp, string])[] = [
  // The deployment that the base URL names, not the model that the client appends.
  [new RegExp(`^(?:/openai)?/deployments/(${DEPLOYMENT})/deployments/[^/]+(/.*)$`), "/openai/deployments/$1$2"],
  [/^(?:\/openai)?(\/(?:deployments|v1)\/.*)$/, "/openai$1"],
  [new RegExp(`^/(?!openai/)(${DEPLOYMENT})/deployments/[^/]+(/.*)$`), "/openai/deployments/$1$2"],
  // Operations that deployments do not have belong to the resource: `/openai/models`, `/models`.
  [/^(\/openai\/(?!(?:chat|completions|embeddings|images|audio|extensions)(?:\/|$)).*)$/, "$1"],
  [/^(\/(?:models|files|batches|responses|assistants|threads|vector_stores))$/, "/openai$1"],
  [new RegExp(`^/(${DEPLOYMENT})(/.*)?$`), "/openai/deployments/$1$2"],
];

/** The resource and the path at Azure OpenAI; undefined if the path lacks one of them. */
export function azurePath(rest: string): { readonly resource: string; readonly path: string } | undefined {
  const [, resource, behind] = RESOURCE.exec(rest) ?? [];
  if (resource === undefined || behind === undefined) return undefined;
  const form = FORMS.find(([pattern]) => pattern.test(behind));
  return form === undefined ? undefined : { resource: resource.toLowerCase(), path: behind.replace(...form) };
}

/** Finds the model's deployment in all of these forms; requests of version 1 name the model in the body. */
export const AZURE_MODEL = /^\/[^/]+\/(?:(?:openai\/)?deployments\/)?(?!(?:openai\/)?v1\/)([^/]+)/;
