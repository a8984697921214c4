import assert from "node:assert/strict";
import { openSync, closeSync, fstatSync } from "node:fs";
import { test } from "node:test";
import type { Config } from "#app/config/config.ts";
import { createInheritedSockets, inheritedBy, passedSockets } from "./inherited-sockets.ts";

const host = "127.0.0.1";
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
  assert.deepEqual(inheritedBy("nameserver-1", ["udp", "tcp", "dot"], {}, inherited), { udp: 1000, tcp: 1001, dot: 1002 });
  assert.deepEqual(inheritedBy("nameserver-1", ["udp", "tcp", "dot"], {}, inherited), {});
  assert.deepEqual(inheritedBy("edge-1", ["http", "https"], {}, inherited), { https: 1004 }, "HTTP is on another port now");
  assert.deepEqual(inheritedBy("gateway", ["http"], { http: 1 }, inherited), {}, "a thread that starts again opens its own");
  assert.deepEqual(inherited.portsOf("edge-1"), { https: 1 });
});

test("sockets that the configuration does not use are closed", () => {
  const fd = openSync("/dev/null", "r");
  const passed = [{ name: "edge-2/http", fd, host, port: 8080, boundPort: 8080 }];
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
