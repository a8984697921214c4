import assert from "node:assert/strict";
import { openSync, closeSync, fstatSync } from "node:fs";
import { test } from "node:test";
import type { Config } from "#app/config/config.ts";
import { createInheritedSockets, inheritedBy, passedSockets } from "./inherited-sockets.ts";

const host = ["127.0.0.1"];
const config = {
  roles: ["control", "edge", "nameserver", "gateway"],
  api: { host, port: 8780 },
  ops: { host, port: 0 },
  gateway: { host, port: 8781 },
  dns: { host, port: 5300, tls_port: 853 },
  edge: { host },
  http: { port: 8080 },
  https: { port: 8443 },
} as unknown as Config;
const NAMES = [
  "nameserver-1/udp",
  "nameserver-1/tcp",
  "nameserver-1/dot",
  "edge-1/http",
  "edge-1/https",
  "gateway/http",
  "api/tcp",
  "ops/tcp",
];
const open = NAMES.map((name, fd) => ({ name, fd: 1000 + fd, port: 1 }));

test("each socket is passed once, to the thread of its name, if its address is unchanged", () => {
  const passed = passedSockets(config, open);
  const inherited = createInheritedSockets({ ...config, http: { port: 80 } } as Config, passed, true);
  assert.deepEqual(inheritedBy("nameserver-1", ["udp", "tcp", "dot"], config, {}, inherited), { udp: 1000, tcp: 1001, dot: 1002 });
  assert.deepEqual(inheritedBy("nameserver-1", ["udp", "tcp", "dot"], config, {}, inherited), {});
  assert.deepEqual(inheritedBy("edge-1", ["http", "https"], config, {}, inherited), { https: 1004 }, "HTTP is on another port now");
  assert.deepEqual(inheritedBy("gateway", ["http"], config, { http: 1 }, inherited), {}, "a thread that starts again opens its own");
  assert.deepEqual(inherited.portsOf("edge-1"), { https: 1 });
});

test("sockets of several addresses are passed by address, in whatever order the configuration has them", () => {
  const both = { ...config, dns: { ...config.dns, host: ["127.0.0.1", "::1"], tls_port: "auto" } } as Config;
  const further = ["nameserver-1/udp+2", "nameserver-1/tcp+2", "nameserver-1/dot+2"].map((name, i) => ({ name, fd: 2000 + i, port: 2 }));
  const passed = passedSockets(both, [...open, ...further]);
  const turned = { ...both, dns: { ...both.dns, host: ["::1", "127.0.0.1"] } } as Config;
  const inherited = createInheritedSockets(turned, passed, true);
  assert.deepEqual(inherited.portsOf("nameserver-1"), { udp: 2, "udp+2": 1, tcp: 2, "tcp+2": 1, dot: 2, "dot+2": 1 });
  assert.deepEqual(inheritedBy("nameserver-1", ["udp", "tcp", "dot"], turned, {}, inherited), {
    ...{ udp: 2000, "udp+2": 1000, tcp: 2001, "tcp+2": 1001, dot: 2002, "dot+2": 1002 },
  });
  assert.throws(() => passedSockets(both, open), /nameserver\/udp\+2/);
});

test("sockets that the configuration does not use are closed", () => {
  const fd = openSync("/dev/null", "r");
  const passed = [{ name: "edge-2/http", fd, host: "127.0.0.1", port: 8080, boundPort: 8080 }];
  const inherited = createInheritedSockets(config, passed, true);
  inherited.closeRest();
  try {
    assert.throws(() => fstatSync(fd), { code: "EBADF" });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
});

test("the sockets are handed over only as a complete set, and the error says what to do", () => {
  assert.equal(passedSockets(config, [...open, { name: "nameserver-1/doh", fd: 1, port: 1 }]).length, NAMES.length);
  assert.throws(
    () =>
      passedSockets(
        config,
        open.filter(({ name }) => name !== "nameserver-1/udp"),
      ),
    /^Error: the sockets of nameserver\/udp cannot be passed on: .*native transport.*Stop the server and start it$/,
  );
});
