import assert from "node:assert/strict";
import { test } from "node:test";
import { requestedHost, createHostGate } from "./host-gate.ts";

test("the gate accepts all names of loopback, with any port", () => {
  const allows = createHostGate({ names: [], anyAddress: false });
  for (const host of [
    "localhost",
    "LOCALHOST:8780",
    "localhost.",
    "api.localhost:80",
    "127.0.0.1",
    "127.9.9.9:1",
    "[::1]:8780",
    "[::1]",
    "[::ffff:127.0.0.1]",
  ])
    assert.equal(allows(host), true, host);
});

test("the gate never accepts an unknown name, even if its DNS leads to this server", () => {
  for (const anyAddress of [true, false]) {
    const allows = createHostGate({ names: ["api.example.com", "192.0.2.1"], anyAddress });
    const others = [
      "rebind.example",
      "localhost.rebind.example",
      "127.0.0.1.rebind.example",
      "api.example.com.rebind.example",
      "xlocalhost",
    ];
    for (const host of [...others, "", ":80", "[", "[::1", "2130706433.nip.io", "api.example.com@rebind.example", "0x7f.1.example"].flatMap(
      (name) => [name, `${name}:8780`],
    ))
      assert.equal(allows(host), false, host);
    for (const host of ["localhost:evil", "localhost:80:80", "[::1]x", "[::1]:8x", "localhost]"]) assert.equal(allows(host), false, host);
  }
});

test("a request target in absolute form determines the host", () => {
  assert.equal(requestedHost("/client/v4/zones", "localhost:8780"), "localhost:8780");
  assert.equal(requestedHost("http://rebind.example/client/v4/zones", "localhost"), "rebind.example");
  assert.equal(requestedHost("HTTP://localhost@rebind.example:80?x", "localhost"), "localhost@rebind.example:80");
  assert.equal(requestedHost("*", "localhost"), "localhost");
});

test("the gate accepts configured names and addresses, and other addresses if the server listens on all", () => {
  const named = createHostGate({ names: ["api.example.com", "*.internal.example", "192.0.2.1", "2001:db8::1"], anyAddress: false });
  for (const host of ["api.example.com", "API.Example.com.:443", "a.internal.example", "192.0.2.1:8780", "[2001:db8:0::1]:8780"])
    assert.equal(named(host), true, host);
  for (const host of ["192.0.2.2", "[2001:db8::2]", "a.b.internal.example", "internal.example"]) assert.equal(named(host), false, host);
  assert.equal(createHostGate({ names: [], anyAddress: true })("198.51.100.7:8780"), true);
  assert.equal(createHostGate({ names: ["*"], anyAddress: false })("anything.example"), true);
});
