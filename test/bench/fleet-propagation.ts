import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type FleetScope, fleetDirectory, startFleet } from "../support/fleet.ts";
import { startPostgres } from "../support/postgres.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type AddressAsker, openAddressAsker } from "./address-asker.ts";
import { cpuSeconds } from "./cpu-time.ts";
import { busPeer, commitPeer } from "./fleet-peers.ts";
import { quantile } from "./statistics.ts";

const NODES = ["fra-1", "ams-1", "nyc-1"] as const;
/** `SELVEDGE_BENCH_CONTROLS=1` measures without the way from one server with control to another. */
const CONTROLS = Number(process.env["SELVEDGE_BENCH_CONTROLS"] ?? 2);
const WRITES_PER_SECOND = Number(process.env["SELVEDGE_BENCH_WRITES"] ?? 200);
const ZONES = 20;
const NAMES_PER_ZONE = 30;
const POLL_MS = 2;
/** With more writes on their way than this, questions become rarer: on a machine that is late they would make it later. */
const EACH_POLLED = 10;
/** Further writes wait. */
const RUNNING_MAX = 100;
const TIMEOUT_MS = 120_000;
const SETTINGS = {
  ...{ SELVEDGE_SETTLE_REMOTE_MS: "250", SELVEDGE_LOG_LEVEL: "warn", SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" },
  SELVEDGE_DNS_RATE_LIMIT_PER_SECOND: "0",
};

interface Name {
  readonly host: string;
  /** Of its record. */
  readonly path: string;
}

/** All writes of a round, in milliseconds. */
interface Round {
  readonly seen: number[];
  readonly afterAcknowledgement: number[];
  readonly acknowledged: number[];
  readonly byNode: readonly number[][];
  behind: number;
  asked: number;
  stale: number;
  /** Writes that the API refused, as it does on a machine that is too busy. */
  refused: number;
  /** Per write, in milliseconds. */
  controlCpu: number;
  busCpu: number;
  perSecond: number;
}

/**
 * Writes at a constant rate to servers with control in turns; each is asked of the nameservers of three nodes every 2 ms until all of them answer
 * it. After each acknowledgement that names no node, each node is asked once more: an answer from before the write is stale.
 */
export const fleetPropagation: Benchmark = {
  name: "fleet-propagation",
  unit: `ms from an API write until the last of ${NODES.length} nodes answers it, p50, at ${WRITES_PER_SECOND} writes a second`,
  better: "lower",
  target: 15,
  tools: ["nats-server", "postgres"],
  // With the default of 3 seconds, more than 10,000 questions after acknowledgements.
  rounds: 6,
  prepare: async ({ seconds }) => {
    const scope = openScope();
    try {
      const postgres = startPostgres(["fsync=on"]);
      const fleet = await startPropagation(scope, postgres);
      const [commits, bus] = [
        await commitPeer(scope, postgres, WRITES_PER_SECOND, seconds),
        await busPeer(scope, WRITES_PER_SECOND, seconds),
      ];
      scope.after(() => postgres.stop());
      let [asked, stale] = [0, 0];
      return {
        ours: {
          name: "selvedge",
          run: async () => {
            const round = await fleet(seconds);
            asked += round.asked;
            stale += round.stale;
            return measured(round);
          },
        },
        peers: [commits, bus],
        conclude: () => [`stale ${stale} of ${asked} answers after acknowledgements that named no node (goal 0), with the warm-up`],
        close: scope.close,
      };
    } catch (error) {
      await scope.close();
      throw error;
    }
  },
};

const measured = ({ seen, afterAcknowledgement, acknowledged, byNode, ...counts }: Round): Measurement => ({
  value: quantile(seen, 0.5),
  also: {
    p99_ms: quantile(seen, 0.99),
    acknowledged_p50_ms: quantile(acknowledged, 0.5),
    acknowledged_p99_ms: quantile(acknowledged, 0.99),
    after_acknowledgement_p99_ms: quantile(afterAcknowledgement, 0.99),
    ...Object.fromEntries(NODES.map((name, i) => [`${name}_p50_ms`, quantile(byNode[i] ?? [], 0.5)])),
    writes: seen.length,
    named_behind: counts.behind,
    stale: counts.stale,
    refused: counts.refused,
    writes_per_second: counts.perSecond,
    control_cpu_ms: counts.controlCpu,
    bus_cpu_ms: counts.busCpu,
  },
});

/** Work to do at the end, in the order in which it was added, as of a test. */
function openScope(): FleetScope & { close(): Promise<void> } {
  const last: (() => unknown)[] = [];
  return {
    after: (work) => void last.push(work),
    close: async () => {
      for (const work of last.splice(0)) await work();
    },
  };
}

async function startPropagation(
  scope: FleetScope,
  postgres: ReturnType<typeof startPostgres>,
): Promise<(seconds: number) => Promise<Round>> {
  const world = await startFleet(scope, SETTINGS, postgres);
  const calls = [world.call];
  const pids: number[] = [];
  for (let i = 1; i < CONTROLS; i++) {
    const directory = fleetDirectory(scope, `control-${i + 1}`);
    cpSync(join(world.controlDir, "seal.key"), join(directory, "seal.key"));
    const env = { ...world.env, ...SETTINGS, SELVEDGE_DATA: directory, SELVEDGE_ROLES: "control", SELVEDGE_BUS_URL: world.nats.url };
    const other = await world.start(directory, env);
    calls.push(apiCaller(other.ready, world.token));
    pids.push(other.pid);
  }
  const controls = (): readonly number[] => [world.controlPid(), ...pids];
  const askers: AddressAsker[] = [];
  for (const name of NODES) {
    const node = await world.start(await world.join(name, "nameserver"), SETTINGS);
    const asker = await openAddressAsker(Number(node.ready.dns.split(":")[1]));
    scope.after(asker.close);
    askers.push(asker);
  }
  const names: Name[] = [];
  for (let i = 0; i < ZONES; i++) {
    const zone = `zone${i}.example`;
    const { id } = await succeed(world.call("POST", "/zones", { name: zone, account: { id: world.account } }));
    for (let j = 0; j < NAMES_PER_ZONE; j++) {
      const host = `h${j}.${zone}`;
      const record = await succeed(world.call("POST", `/zones/${id}/dns_records`, { type: "A", name: host, content: "10.0.0.0", ttl: 60 }));
      names.push({ host, path: `/zones/${id}/dns_records/${record.id}` });
    }
  }
  for (const { host } of names) for (const asker of askers) await eventually(async () => (await asker.ask(host)) === addressOf(0));

  let [state, running] = [0, 0];
  /** When the asked node answers the wanted address; null if that is no longer awaited. */
  const timeOfAnswer = async (asker: AddressAsker, host: string, wanted: string, isAwaited: () => boolean): Promise<number | null> => {
    const until = performance.now() + TIMEOUT_MS;
    while ((await asker.ask(host)) !== wanted) {
      if (!isAwaited()) return null;
      if (performance.now() > until) throw new Error(`${host} was not ${wanted} after ${TIMEOUT_MS} ms`);
      await delay(POLL_MS * Math.max(1, running / EACH_POLLED));
    }
    return performance.now();
  };
  const write = async (round: Round, { host, path }: Name): Promise<void> => {
    const wanted = addressOf(++state);
    const call = calls[state % calls.length]!;
    let isRefused = false;
    const sentAt = performance.now();
    const answers = askers.map((asker) => timeOfAnswer(asker, host, wanted, () => !isRefused));
    const acknowledgement = call("PATCH", path, { content: wanted }).then(async ({ body }) => {
      const at = performance.now();
      if (!body.success) return void (isRefused = true);
      if (body.messages.length > 0) round.behind++;
      else
        for (const answer of await Promise.all(askers.map((asker) => asker.ask(host)))) {
          if (answer !== null) round.asked++;
          if (answer !== null && answer !== wanted) round.stale++;
        }
      return at;
    });
    const [acknowledgedAt, ...times] = await Promise.all([acknowledgement, ...answers]);
    if (acknowledgedAt === undefined) return void round.refused++;
    const seen = times.filter((time) => time !== null);
    seen.forEach((time, i) => round.byNode[i]?.push(time - sentAt));
    round.acknowledged.push(acknowledgedAt - sentAt);
    round.seen.push(Math.max(...seen) - sentAt);
    round.afterAcknowledgement.push(Math.max(0, ...seen.map((time) => time - acknowledgedAt)));
  };
  return async (seconds) => {
    const round = emptyRound();
    const all: Promise<void>[] = [];
    const cpu = (): readonly number[] => [sum(controls().map(cpuSeconds)), cpuSeconds(world.nats.pid())];
    const [controlBefore = 0, busBefore = 0] = cpu();
    const began = performance.now();
    const writes = seconds * WRITES_PER_SECOND;
    for (let i = 0; i < writes; i++) {
      do await delay(Math.max(0, began + (i * 1000) / WRITES_PER_SECOND - performance.now()));
      while (running >= RUNNING_MAX);
      // Only one write at a time changes a name, so that an answer belongs to one write.
      const name = names.shift()!;
      running++;
      all.push(
        write(round, name).finally(() => {
          running--;
          names.push(name);
        }),
      );
      all.at(-1)?.catch(() => undefined);
    }
    await Promise.all(all);
    const [control = 0, bus = 0] = cpu();
    round.perSecond = (writes * 1000) / (performance.now() - began);
    round.controlCpu = ((control - controlBefore) * 1000) / writes;
    round.busCpu = ((bus - busBefore) * 1000) / writes;
    return round;
  };
}

const emptyRound = (): Round => ({
  ...{ seen: [], afterAcknowledgement: [], acknowledged: [], byNode: NODES.map(() => []) },
  ...{ behind: 0, asked: 0, stale: 0, refused: 0, controlCpu: 0, busCpu: 0, perSecond: 0 },
});
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const addressOf = (state: number): string => `10.${(state >> 16) & 255}.${(state >> 8) & 255}.${state & 255}`;
