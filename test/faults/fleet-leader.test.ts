import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetDirectory, startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

test(
  "a node follows whichever control leads: the first one is frozen and thawed, then the second one is killed",
  { skip, timeout: 600_000 },
  async (t) => {
    const world = await startFleet(t);
    const zone = (await succeed(world.call("POST", "/zones", { name: "leader.example", account: { id: world.account } }))).id;
    const node = await world.start(await world.join("fra-1", "nameserver"));
    const otherDir = fleetDirectory(t, "other-control");
    cpSync(join(world.controlDir, "seal.key"), join(otherDir, "seal.key"));
    const env = { ...world.env, SELVEDGE_DATA: otherDir, SELVEDGE_ROLES: "control", SELVEDGE_BUS_URL: world.nats.url };
    const other = await world.start(otherDir, env);
    const others = apiCaller(other.ready, world.token);

    const address = async (name: string): Promise<string> => {
      const { port } = new URL(`udp://${node.ready.dns}`);
      const { stdout } = await execute("dig", ["@127.0.0.1", "-p", port, `${name}.leader.example`, "A", "+short", "+time=60", "+tries=1"]);
      return stdout.trim();
    };
    let last = 0;
    /** Each answer says that the node has the change, and it has. */
    const write = async (call: ApiCall, name: string): Promise<void> => {
      const content = `192.0.2.${++last}`;
      const made = await call("POST", `/zones/${zone}/dns_records`, { type: "A", name, content, ttl: 300 });
      assert.deepEqual([made.status, made.body.messages], [200, []], name);
      assert.equal(await address(name), content);
    };
    const isConnected = async (call: ApiCall): Promise<boolean> =>
      (await succeed(call("GET", `/accounts/${world.account}/nodes`)))[0]?.status === "connected";
    await eventually(() => isConnected(world.call));
    await eventually(() => isConnected(others));
    await write(world.call, "both");
    await write(others, "by-the-other");

    process.kill(world.controlPid(), "SIGSTOP");
    await write(others, "while-frozen");
    process.kill(world.controlPid(), "SIGCONT");
    await eventually(() => isConnected(world.call));
    await write(world.call, "thawed");
    await write(others, "after-the-thaw");

    await other.kill();
    await write(world.call, "after-the-kill");
  },
);
