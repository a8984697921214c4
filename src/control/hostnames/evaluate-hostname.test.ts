import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { type HostnameFacts, evaluateHostname, VERIFICATION_ERRORS } from "./evaluate-hostname.ts";

const facts = (more: Partial<HostnameFacts> = {}): HostnameFacts => ({
  zoneName: "service.test",
  aliases: [],
  isChainKnown: true,
  addresses: [],
  texts: [],
  httpToken: false,
  token: "token",
  countsAliases: true,
  isOurs: (address) => address === "192.0.2.1",
  countsAddresses: true,
  isHeld: false,
  hasOrigin: true,
  isActive: false,
  ...more,
});

test("proofs that a name was assigned to the zone, and insufficient ones", () => {
  const valid: readonly Partial<HostnameFacts>[] = [
    { aliases: ["service.test"] },
    { aliases: ["elsewhere.test", "customers.service.test"], addresses: ["198.51.100.1"] },
    { addresses: ["198.51.100.1", "192.0.2.1"] },
    { texts: ["other", "token"] },
    { httpToken: true, addresses: ["198.51.100.1"] },
    { texts: ["token"], countsAliases: false, countsAddresses: false, isChainKnown: false, addresses: null },
    { texts: ["token"], aliases: ["service.test"], countsAliases: false },
  ];
  for (const more of valid) assert.equal(evaluateHostname(facts(more)).verdict, "valid", JSON.stringify(more));
  const { cname, addresses, origin, held, unproved } = VERIFICATION_ERRORS;
  const invalid: readonly [Partial<HostnameFacts>, readonly string[]][] = [
    [{}, [cname, addresses]],
    [{ aliases: ["notservice.test"] }, [cname]],
    [{ addresses: ["198.51.100.1"] }, [cname, addresses]],
    [{ addresses: ["192.0.2.1"], countsAddresses: false }, [cname, addresses]],
    [{ aliases: ["service.test"], countsAliases: false }, [unproved]],
    [{ texts: ["tokens"] }, [cname, addresses]],
    [{ aliases: ["service.test"], hasOrigin: false }, [origin]],
  ];
  for (const [more, errors] of invalid)
    assert.deepEqual(evaluateHostname(facts(more)), { verdict: "invalid", errors }, JSON.stringify(more));
  const active = facts({ aliases: ["service.test"], hasOrigin: false, isActive: true });
  assert.deepEqual(evaluateHostname(active), { verdict: "valid", errors: [origin] }, "an active hostname stays active without an origin");
  assert.equal(evaluateHostname({ ...active, aliases: [] }).verdict, "invalid");
  assert.deepEqual(evaluateHostname(facts({ aliases: ["service.test"], isHeld: true })), { verdict: "held", errors: [held] });
});

test("a failed lookup changes nothing", () => {
  const known = fc.option(fc.array(fc.constantFrom("elsewhere.test", "198.51.100.1", "text"), { maxLength: 2 }));
  fc.assert(
    fc.property(known, known, known, (aliases, addresses, texts) => {
      const chain = { aliases: aliases ?? ["elsewhere.test"], isChainKnown: aliases !== null };
      const { verdict } = evaluateHostname(facts({ ...chain, addresses, texts }));
      assert.equal(verdict, aliases === null || addresses === null || texts === null ? "unknown" : "invalid");
    }),
  );
});
