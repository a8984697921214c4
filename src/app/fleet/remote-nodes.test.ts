import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { systemClock } from "#kernel/clock.ts";
import { createLog } from "#app/log/log.ts";
import { reportSubject } from "#snapshot/bus/node-subjects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { startNats } from "../../../test/support/nats.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { createRemoteNodes } from "./remote-nodes.ts";

test("control hears nodes on after reports of wrong forms from one of them", { skip: toolOrSkip("nats-server") }, async (t) => {
  const nats = await startNats();
  t.after(() => nats.stop());
  const [control, node] = await Promise.all([connect({ servers: nats.url }), connect({ servers: nats.url })]);
  t.after(() => Promise.all([control.close(), node.close()]));
  const remote = createRemoteNodes({
    ...{
      clock: systemClock,
      log: createLog({ level: "silent", levels: {} }, { write: () => undefined }),
      onRefused: () => undefined,
      onReport: () => undefined,
      isHeld: () => false,
    },
  });
  t.after(() => remote.close());
  remote.listen(control);
  await control.flush();
  const report = { history: "h", rev: 1, version: "1", format: 1, addresses: { dns: "127.0.0.1:53" }, problems: [] };
  const odd = [null, 7, "x", [], { dns: null }, { dns: { a: 1 } }];
  const send = (name: string, value: unknown): void => node.publish(reportSubject(name), JSON.stringify(value));
  for (const value of odd) for (const field of Object.keys(report).concat("refused")) send("odd", { ...report, [field]: value });
  for (const value of odd) send("odd", value);
  node.publish(reportSubject("odd"), "{");
  send("good", report);
  await eventually(() => remote.heard.has("good"));
  const good = remote.heard.get("good");
  assert.deepEqual(good?.addresses, { dns: "127.0.0.1:53" });
});

test("after control has started, calls name each node until it has reported, and no longer once it is away", async (t) => {
  let nowMs = 0;
  const remote = createRemoteNodes({
    ...{ clock: { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs } },
    log: createLog({ level: "silent", levels: {} }, { write: () => undefined }),
    ...{ onRefused: () => undefined, onReport: () => undefined, isHeld: () => false },
  });
  t.after(() => remote.close());
  remote.expect(["fra-1", "ams-1"]);
  remote.look("h");
  assert.deepEqual(await remote.settled(3, 1), { behind: ["node fra-1", "node ams-1"] });
  remote.forget("ams-1");
  nowMs = 4_000;
  remote.look("h");
  assert.deepEqual(await remote.settled(4, 1), { behind: ["node fra-1"] });
  nowMs = 5_001;
  remote.look("h");
  assert.deepEqual(await remote.settled(5, 1), { behind: [] });
});
