import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { createAddressPolicy } from "./address-policy.ts";
import { createOperatorPorts, sharedOperatorPorts } from "./operator-ports.ts";

test("the operator's listeners are not reachable at any address of this machine, whatever the settings allow", () => {
  const shared = sharedOperatorPorts();
  createOperatorPorts(shared).add(8780);
  const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
  for (const allows of [
    createAddressPolicy("127.0.0.1", [], shared),
    createAddressPolicy("0.0.0.0", ["127.0.0.0/8", "::/0", "0.0.0.0/0"], shared),
  ])
    for (const address of ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", ...own]) {
      assert.equal(allows(address, 8780), false, address);
      if (address.startsWith("127.")) assert.deepEqual([allows(address, 8781), allows(address, 8772)], [true, true], address);
    }
  assert.equal(createAddressPolicy("127.0.0.1", [], shared)("10.254.253.1", 8780), true, "of another machine");
});
