import type { FastifyInstance, FastifyReply } from "fastify";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { addDeprecationFeeds } from "#api/deprecations/deprecation-feeds.ts";
import { successEnvelope } from "#api/envelope.ts";
import { openApiDocument } from "./openapi.ts";
import type { Route } from "#api/route.ts";

export interface PublicDocumentsDeps {
  readonly basePath: string;
  readonly routes: readonly Route[];
  readonly deprecations: readonly Deprecation[];
  hasOpenApi(): boolean;
  /** Whether the first user has no password yet. */
  isSetupOpen(): Promise<boolean>;
}

/** Documents without credentials: the description of the interface and of its changes, and whether a user can sign in. */
export function addPublicDocuments(
  app: FastifyInstance,
  { basePath, routes, deprecations, hasOpenApi, isSetupOpen }: PublicDocumentsDeps,
): void {
  let openApi: string | undefined;
  const openApiText = (): string => (openApi ??= JSON.stringify(openApiDocument({ basePath, routes, deprecations })));
  const send = (reply: FastifyReply, text: string): FastifyReply => reply.type("application/json").send(text);
  app.get(`${basePath}/openapi.json`, async (_request, reply) => {
    if (!hasOpenApi()) throw new PlatformError("no_route");
    return send(reply, openApiText());
  });
  app.get(`${basePath}/deprecations`, async (_request, reply) => send(reply, successEnvelope(deprecations, [], null)));
  addDeprecationFeeds(app, `${basePath}/deprecations`, deprecations);
  app.get(`${basePath}/setup`, async (_request, reply) => send(reply, successEnvelope({ open: await isSetupOpen() }, [], null)));
  app.get<{ Params: { id: string } }>(`${basePath}/deprecations/:id`, async (request, reply) => {
    const row = deprecations.find(({ id }) => id === request.params.id);
    if (!row) throw new PlatformError("not_found");
    return send(reply, successEnvelope(row, [], null));
  });
}
