import { alertLooksBusy, alertLooksQuiet } from "./alert-looks.ts";
import { apiCreates } from "./api-creates.ts";
import type { Benchmark } from "./benchmark.ts";
import { detectionScan, detectionTypes } from "./detection-scan.ts";
import { detectionTap } from "./detection-tap.ts";
import { dnsBatch } from "./dns-batch.ts";
import { dnsFuzz } from "./dns-fuzz.ts";
import { dnsImport } from "./dns-import.ts";
import { dnsListManyZones, dnsListOneZone } from "./dns-list.ts";
import { dnsLatency, dnsQueries, dnsSignedQueries } from "./dns-queries.ts";
import { dnsRelease } from "./dns-release.ts";
import { dnsStart } from "./dns-start.ts";
import { edgeCacheHits, edgeCacheHitsWithRows } from "./edge-cache.ts";
import { edgeDetectionLatency } from "./edge-detection-latency.ts";
import { edgeDetection } from "./edge-detection.ts";
import { edgeAttacks } from "./edge-attacks.ts";
import { edgeFuzz } from "./edge-fuzz.ts";
import { edgeHandshakes, edgeResumptions } from "./edge-handshakes.ts";
import { edgeDistance } from "./edge-distance.ts";
import { edgeHttp2, edgeHttp2Huge, edgeHttp2Large } from "./edge-http2.ts";
import { edgeOriginTls } from "./edge-origin-tls.ts";
import { edgeProxy, edgeEvents, edgeLarge, edgeRequests, edgeRules, edgeRulesRequests, edgeTls } from "./edge-requests.ts";
import { edgeIdle } from "./edge-idle.ts";
import { edgeTunnel, edgeTunnelLarge, edgeTunnelSecure } from "./edge-tunnel.ts";
import { edgeWafForm, edgeWafGet, edgeWafJson } from "./edge-waf.ts";
import { edgeSoak } from "./edge-soak.ts";
import { events10m } from "./events-10m.ts";
import { fleetNodes } from "./fleet-nodes.ts";
import { fleetPropagation } from "./fleet-propagation.ts";
import { gatewayAborts } from "./gateway-aborts.ts";
import { gatewayFirstToken } from "./gateway-first-token.ts";
import { gatewayIdleStreams, gatewayMemory, gatewayMemoryLong } from "./gateway-memory.ts";
import { gatewayRealtime } from "./gateway-realtime.ts";
import { gatewayPacedStreams, gatewayRequests, gatewayFirstStreams, gatewayStreams } from "./gateway-requests.ts";
import { hostnamesStart } from "./hostnames-start.ts";
import { pump } from "./pump.ts";
import { restartLoaded } from "./restart-loaded.ts";
import { rulesHold } from "./rules-hold.ts";
import { propagationDns, propagationEdge, propagationGateway } from "./propagation.ts";
import { propagationDnsLoaded } from "./propagation-loaded.ts";
import { rulesBudget } from "./rules-budget.ts";
import { rulesCompile, rulesExpressions, rulesList, rulesThousand } from "./rules-expressions.ts";
import { rulesDocuments } from "./rules-documents.ts";
import { rulesManaged } from "./rules-managed.ts";
import { rulesRateLimits } from "./rules-rate-limits.ts";
import { scale } from "./scale.ts";
import { startToReady } from "./start-to-ready.ts";

/** In the order in which `npm run bench` runs them. */
export const BENCHMARKS: readonly Benchmark[] = [
  startToReady,
  restartLoaded,
  apiCreates,
  alertLooksQuiet,
  alertLooksBusy,
  dnsBatch,
  dnsImport,
  propagationDns,
  propagationDnsLoaded,
  propagationEdge,
  propagationGateway,
  fleetNodes,
  fleetPropagation,
  dnsListOneZone,
  dnsListManyZones,
  dnsRelease,
  dnsStart,
  hostnamesStart,
  scale,
  dnsQueries,
  dnsSignedQueries,
  dnsLatency,
  dnsFuzz,
  edgeProxy,
  detectionScan,
  detectionTypes,
  detectionTap,
  edgeRequests,
  edgeEvents,
  edgeRules,
  edgeRulesRequests,
  edgeWafGet,
  edgeWafJson,
  edgeWafForm,
  edgeDetection,
  edgeDetectionLatency,
  edgeLarge,
  edgeTls,
  edgeOriginTls,
  edgeTunnel,
  edgeTunnelLarge,
  edgeTunnelSecure,
  edgeHttp2,
  edgeHttp2Large,
  edgeHttp2Huge,
  edgeDistance,
  edgeCacheHits,
  edgeCacheHitsWithRows,
  edgeHandshakes,
  edgeResumptions,
  edgeFuzz,
  edgeAttacks,
  edgeIdle,
  edgeSoak,
  events10m,
  gatewayRequests,
  gatewayFirstStreams,
  gatewayStreams,
  gatewayPacedStreams,
  gatewayFirstToken,
  gatewayAborts,
  gatewayRealtime,
  gatewayMemory,
  gatewayMemoryLong,
  gatewayIdleStreams,
  pump,
  rulesHold,
  rulesExpressions,
  rulesThousand,
  rulesList,
  rulesCompile,
  rulesBudget,
  rulesManaged,
  rulesDocuments,
  rulesRateLimits,
];
