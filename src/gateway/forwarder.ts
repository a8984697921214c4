import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { createTimers } from "#kernel/timers.ts";
import type { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Admitted } from "#gateway/auth/admission.ts";
import { type Refusal, RefusalError } from "#gateway/http/errors.ts";
import { createAnswerCache } from "./cache/answer-cache.ts";
import { type DiskAnswers, openDiskAnswers } from "#gateway/cache/disk-store.ts";
import { isModelList } from "#gateway/plans/compat-plan.ts";
import type { AnswerSink } from "#gateway/listen/response-writer.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { GatewayConfig } from "./config.ts";
import { createServiceTokens } from "./credentials/service-account.ts";
import { createStoredKeys } from "./credentials/stored-keys.ts";
import { createCosts } from "#gateway/costs/costs.ts";
import { createTokenEstimates } from "#gateway/costs/token-estimates.ts";
import { Exchange } from "#gateway/exchange/exchange.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import type { HeaderRules } from "#gateway/http/headers.ts";
import { createGatewayLog } from "#gateway/logs/log.ts";
import { createModelList } from "#gateway/plans/model-list.ts";
import { createSpanExporter } from "#gateway/tracing/span-exporter.ts";
import { createClassifier } from "./guard/classifier.ts";
import { createDlpProfiles } from "./guard/dlp-profiles.ts";
import { createGuards, isInspected } from "./guard/guards.ts";
import type { MakeTransform, Plan, ReadyBody, Step } from "#gateway/request/plan.ts";
import { createRequestPlanner } from "#gateway/plans/planner.ts";
import { createPools } from "#gateway/providers/pools.ts";
import { createPrices } from "#gateway/costs/prices.ts";
import { createReadTicks } from "#gateway/providers/read-coalescing.ts";
import type { Upstreams } from "#gateway/providers/providers.ts";
import { createRealtime, type Realtime } from "./realtime/realtime.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import { createBodyReader } from "#gateway/request/request-body.ts";
import { createRequestOptions } from "#gateway/request/request-options.ts";
import { createMetadataReader } from "#gateway/logs/log-options.ts";
import { createGatewayRoutes } from "#gateway/plans/gateway-routes.ts";
import { OPEN_TO_PAGES, withoutProvidersOwn } from "#gateway/request/cross-origin.ts";
import { plainRequest } from "#gateway/request/packed-request.ts";
import { withOwnLinks } from "#gateway/plans/own-links.ts";
import { createResponseFields } from "#gateway/request/response-fields.ts";
import { createRunner } from "#gateway/exchange/runner.ts";
import { createSpendJournal, NO_JOURNAL } from "#gateway/limits/journal.ts";
import { createSpendLedger } from "#gateway/limits/ledger.ts";
import { createSpendLimits } from "#gateway/limits/spend-limits.ts";

export interface Forwarder {
  /**
   * Reads the body, sends it to the provider and answers. Resolves with a refusal if the request cannot be served; then
   * nothing was sent to the provider and no row was begun. Never rejects.
   */
  forward(req: ClientRequest, answer: AnswerSink, admitted: Admitted): Promise<Refusal | undefined>;
  /** The same for a WebSocket. */
  readonly connect: Realtime["connect"];
  /** Closes every open WebSocket. */
  cutSessions(): void;
  /** Resolves when the gateway can serve requests. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export interface ForwarderDeps extends GatewayDeps {
  readonly upstreams: Upstreams;
  readonly rateLimits: RateLimits;
  readonly rules: HeaderRules;
  readonly loop: SocketLoop | null;
}

const PRICES_WARM_UP_MS = 2_000;
/** Time for pending spans when the gateway stops. */
const SPANS_CLOSE_MS = 2_000;

const NO_GUARDS: readonly MakeTransform[] = [];

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const { config, clock, metrics, upstreams, replica, sealer, rateLimits, rules } = deps;
  const { limits } = config;
  const openRules = withoutProvidersOwn(rules);
  const fields = createResponseFields(config.vendorPrefix, clock);
  const requestOptions = createRequestOptions(config.vendorPrefix);
  const prices = createPrices(deps);
  // After the whole server is ready, because loading the table takes a moment.
  const warmUp = setTimeout(() => void prices.load(), PRICES_WARM_UP_MS).unref();
  const estimates = createTokenEstimates();
  const costs = createCosts(prices);
  const allows = createAddressPolicy(
    [config.host, ...(config.further ?? []).map(({ host }) => host)],
    config.providerAllow ?? [],
    config.operatorPorts,
  );
  const timers = createTimers(clock);
  const pools = createPools({ limits, allows, timers, ticks: createReadTicks(clock), loop: deps.loop });
  const spans = createSpanExporter({ pools, sealer, metrics, limits, loop: rules.loop });
  const log = createGatewayLog({ ...deps, spans, vendorPrefix: config.vendorPrefix });
  const keys = createStoredKeys({ replica, sealer, rateLimits, clock, serviceTokens: createServiceTokens({ clock, pools }) });
  const cache = createAnswerCache({ clock, metrics, memoryBytesMax: limits.cacheMemoryBytesMax, disk: openDisk(config, sealer) });
  const unwritten = metrics.counter("selvedge_gateway_spend_unwritten_total", "Spend records that could not be written at once");
  const journal = config.spendJournal === undefined ? NO_JOURNAL : createSpendJournal(config.spendJournal, () => void unwritten.value++);
  const ledger = createSpendLedger({ clock, journal, ...(deps.sharedLimits === undefined ? {} : { sharedLimits: deps.sharedLimits }) });
  const spend = createSpendLimits({ ledger, costs });
  const runner = createRunner({ pools, keys, cache, spend });
  const classifier = config.guardrail === undefined ? undefined : createClassifier(config.guardrail, { upstreams, pools });
  const guards = createGuards({ vendorPrefix: config.vendorPrefix, classifier, profiles: createDlpProfiles(replica) });
  const planner = createRequestPlanner({
    rules,
    upstreams,
    clock,
    options: requestOptions,
    routes: createGatewayRoutes(replica),
    rateLimits,
    ledger,
    metadata: createMetadataReader(config.vendorPrefix),
  });
  const models = createModelList({ replica, prices });
  const listModels = async (req: ClientRequest, answer: AnswerSink, { gateway }: Admitted): Promise<void> => {
    await prices.load();
    const body = Buffer.from(JSON.stringify(models.of(gateway)));
    const headers = ["content-type", "application/json", "content-length", String(body.length), ...fields.forRefusal(req.headers)];
    if (gateway.authentication && req.headers.origin !== undefined) headers.push(...OPEN_TO_PAGES);
    answer.begin(200, headers);
    answer.end(body);
  };
  const realtime = createRealtime({
    clock,
    rules,
    fields,
    options: requestOptions,
    log,
    prices,
    costs,
    limits,
    keys,
    allows,
    spend,
    rateLimits,
  });
  const bodies = createBodyReader(limits, metrics.gauge("selvedge_gateway_buffered_request_bytes", "Bytes of request bodies in memory"));

  /** Bodies that are inspected, sent again or cached are read whole; others are streamed. */
  const wholeBytesMax = ({ route, gateway }: Admitted): number =>
    route.kind !== "direct" ||
    route.upstream.provider.isSigned === true ||
    gateway.cache !== undefined ||
    gateway.retry !== undefined ||
    isInspected(gateway)
      ? limits.requestWholeBytesMax
      : limits.requestBufferBytes;

  const begin = (req: ClientRequest, { gateway, route }: Admitted, body: ReadyBody, eventId: string) =>
    log.begin({
      id: newUlid(clock.nowMs()),
      eventId,
      gateway,
      method: req.method,
      headers: req.headers,
      body,
      isCompatible: route.kind === "compat",
    });

  const planned = (req: ClientRequest, admitted: Admitted, body: ReadyBody): { plan: Plan; first: Step } | Refusal => {
    const { path, gateway } = admitted;
    try {
      const options = requestOptions.read(req.headers, requestOptions.ofGateway(gateway));
      const plan = planner.plan({ method: req.method, headers: req.headers, path, gateway, body, options }, admitted);
      if (typeof plan === "string") return { name: plan };
      const first = plan.next();
      return first === undefined ? { name: "aig_bad_request" } : { plan, first };
    } catch (error) {
      return error instanceof RefusalError ? error.refusal : { name: "aig_internal" };
    }
  };

  const rulesFor = ({ target, headers }: ClientRequest, { path, route }: Admitted, plain: HeaderRules): HeaderRules =>
    route.kind === "direct" ? withOwnLinks(plain, { target, headers, path, ...route }, config.tls !== undefined) : plain;

  return {
    forward: async (asked, answer, admitted) => {
      const sent = await bodies.read(asked, admitted.gateway.account_id, wholeBytesMax(admitted));
      if (sent.kind === "gone") return undefined;
      if (sent.kind === "refused") return { name: sent.reason };
      const mustRead = admitted.route.kind !== "direct" || isInspected(admitted.gateway);
      const unpacking = plainRequest(asked, sent, { bytesMax: limits.requestWholeBytesMax, mustRead });
      const unpacked = unpacking instanceof Promise ? await unpacking : unpacking;
      if ("name" in unpacked) {
        bodies.release(sent);
        return unpacked;
      }
      const { req, body } = unpacked;
      if (admitted.route.kind === "compat" && isModelList(req.method, admitted.path.rest)) {
        bodies.release(body);
        return void (await listModels(req, answer, admitted));
      }
      const found = planned(req, admitted, body);
      if ("name" in found) {
        bodies.release(body);
        return found;
      }
      const { plan, first } = found;
      const eventId = fields.eventId(req.headers);
      const record = begin(req, admitted, body, eventId);
      const ownFields = fields.forAnswer(req.headers, { id: record.id, isLogged: record.isLogged, eventId });
      const isOpen = admitted.gateway.authentication && req.headers.origin !== undefined;
      const guarding = guards.of(admitted.gateway, record);
      const exchange = new Exchange(
        {
          answer,
          rules: rulesFor(req, admitted, isOpen ? openRules : rules),
          fields: isOpen ? (step, isCached) => [...ownFields(step, isCached), ...OPEN_TO_PAGES] : ownFields,
          costOf: costs.of,
          estimates,
          guards: guarding?.transforms ?? NO_GUARDS,
          lastFields: () => guarding?.fields() ?? [],
          limits,
          record,
          requestBytes: () => (body.kind === "whole" ? body.bytes.length : body.stream.bytes),
          isHead: req.method === "HEAD",
          isRequestComplete: req.isComplete,
          onSettled: () => bodies.release(body),
        },
        first,
      );
      const blocked = guarding === undefined ? undefined : await guarding.check(body);
      if (blocked !== undefined) return void exchange.fail(blocked);
      // The first requests load the table; a row without its cost would look like one without a known price.
      const loading = prices.load();
      if (loading !== undefined) await loading;
      await runner.run(plan, first, exchange, {
        gateway: admitted.gateway,
        unauthenticated: admitted.unauthenticated,
        metadata: record.metadata,
      });
      return undefined;
    },
    connect: realtime.connect,
    cutSessions: realtime.close,
    ready: () => cache.ready(),
    close: async () => {
      clearTimeout(warmUp);
      await Promise.all([cache.close(), estimates.close(), log.settled()]);
      await spans.close(SPANS_CLOSE_MS);
      pools.destroy();
      timers.close();
      ledger.close();
    },
  };
}

const openDisk = async ({ cacheDisk }: GatewayConfig, sealer: Sealer | undefined): Promise<DiskAnswers | undefined> =>
  cacheDisk === undefined || sealer === undefined ? undefined : openDiskAnswers({ ...cacheDisk, sealer });
