import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { CLIENT_ADDRESS_FIELDS, type ClientAddressField, createClientAddresses } from "./client-addresses.ts";
import { canonicalIp } from "./ip.ts";

const NETWORKS = ["10.0.0.0/8", "2001:db8:aaaa::/48"];
const PROXY = "10.0.0.1";

const clientOf = (field: ClientAddressField, peer: string, ...lines: string[]): string =>
  (createClientAddresses({ networks: NETWORKS, field }) ?? assert.fail()).of(peer, lines);

/** Lines of a field from the proxy 10.0.0.1, and the client that they name. */
const NAMED: Readonly<Record<ClientAddressField, readonly (readonly [client: string, ...lines: string[]])[]>> = {
  "x-forwarded-for": [
    ["192.0.2.7", "192.0.2.7"],
    ["192.0.2.7", "192.0.2.7:4711"],
    ["2001:db8::7", "2001:DB8:0::7"],
    ["2001:db8::7", "[2001:db8::7]"],
    ["2001:db8::7", "[2001:db8::7]:4711"],
    ["192.0.2.7", "::ffff:192.0.2.7"],
    ["192.0.2.7", "6.6.6.6, 192.0.2.7"],
    ["192.0.2.7", "6.6.6.6, 192.0.2.7, 10.0.0.2, 2001:db8:aaaa::1"],
    ["192.0.2.7", "6.6.6.6", "192.0.2.7"],
    ["192.0.2.7", "192.0.2.7", "10.0.0.2"],
    ["192.0.2.7", "192.0.2.7,, ,"],
    // Every hop is trusted: the first of them is the client.
    ["10.0.0.3", "10.0.0.3, 10.0.0.2"],
    // A proxy that knows no address is the client itself, as far as anybody can tell.
    [PROXY, "unknown"],
    [PROXY, "192.0.2.7, unknown"],
    ["10.0.0.2", "192.0.2.7, _hidden, 10.0.0.2"],
    ["10.0.0.2", "192.0.2.7, not an address, 10.0.0.2"],
    [PROXY, ""],
    [PROXY],
    [PROXY, "192.0.2.7:"],
    [PROXY, "192.0.2.7:80:80"],
    [PROXY, "[192.0.2.7]:80"],
    [PROXY, "[2001:db8::7"],
    [PROXY, "[2001:db8::7]80"],
    [PROXY, "192.0.2.07"],
    [PROXY, "fe80::1%eth0"],
  ],
  "x-real-ip": [
    ["192.0.2.7", "192.0.2.7"],
    ["2001:db8::7", "2001:db8::7"],
    // A proxy that adds a line instead of replacing the client's has the last word.
    ["192.0.2.7", "6.6.6.6", "192.0.2.7"],
    ["192.0.2.7", "6.6.6.6, 192.0.2.7"],
    // A client in a trusted network has not passed on what it claims.
    ["10.0.0.3", "6.6.6.6", "10.0.0.3"],
    [PROXY, "6.6.6.6", "unknown"],
    [PROXY],
  ],
  "cf-connecting-ip": [
    ["2001:db8::7", "2001:db8::7"],
    ["192.0.2.7", " 192.0.2.7 "],
  ],
  forwarded: [
    ["192.0.2.7", "for=192.0.2.7"],
    ["192.0.2.7", "For=192.0.2.7;proto=https;by=203.0.113.4"],
    ["192.0.2.7", 'proto=https ; for="192.0.2.7:4711"'],
    ["192.0.2.7", 'for="192.0.2.7:_port"'],
    ["2001:db8::7", 'for="[2001:db8::7]:4711"'],
    ["2001:db8::7", "for=[2001:db8::7]"],
    ["192.0.2.7", "for=6.6.6.6, for=192.0.2.7"],
    ["192.0.2.7", 'for=192.0.2.7, for=10.0.0.2;by="a, for=6.6.6.6"'],
    ["192.0.2.7", "for=6.6.6.6", "for=192.0.2.7"],
    ["192.0.2.7", 'for=192.0.2.7;host="a\\", for=6.6.6.6;x=\\"b"'],
    ["192.0.2.7", "for=192.0.2.7,,"],
    [PROXY, "for=unknown"],
    [PROXY, "for=_hidden"],
    ["10.0.0.2", "for=192.0.2.7, for=_SEVKISEK, for=10.0.0.2"],
    [PROXY, "for=192.0.2.7, proto=https"],
    [PROXY, "for=192.0.2.7;for=192.0.2.8"],
    [PROXY, 'for=""'],
    [PROXY, "for="],
    [PROXY, "for"],
    [PROXY, '"'],
    [PROXY, '192.0.2.7"'],
    [PROXY, "for=192.0.2.7 for=192.0.2.8"],
    [PROXY, "192.0.2.7"],
    [PROXY, 'for="192.0.2\\.7"'],
  ],
};

for (const field of CLIENT_ADDRESS_FIELDS) {
  test(`${field} of a trusted proxy names the client, and that of any other peer is ignored`, () => {
    for (const [client, ...lines] of NAMED[field]) {
      assert.equal(clientOf(field, PROXY, ...lines), client, JSON.stringify(lines));
      assert.equal(clientOf(field, "203.0.113.9", ...lines), "203.0.113.9", JSON.stringify(lines));
    }
  });
}

test("without trusted networks each peer is the client", () => {
  assert.equal(createClientAddresses({ networks: [], field: "forwarded" }), null);
  assert.throws(() => createClientAddresses({ networks: ["10.0.0.0/33"], field: "forwarded" }), RangeError);
});

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(fc.constantFrom(9, 11, 192, 203), octet, octet, octet).map((octets) => octets.join("."));
const untrusted = fc
  .oneof(
    ipv4,
    fc.ipV6().map((text) => canonicalIp(text) ?? ""),
  )
  .filter((text) => {
    const set = createClientAddresses({ networks: [...NETWORKS, "::ffff:0:0/96"], field: "forwarded" });
    return text !== "" && (text.includes(".") && !text.includes(":") ? true : set?.trusts(text) === false);
  });
const port = fc.constantFrom("", ":1", ":65535", ":_hidden");
/** As proxies write an address: with or without brackets, a port and quotes. */
const spelled = (field: ClientAddressField) => (address: string) =>
  port.map((end) => {
    const node = address.includes(":") ? (end === "" && field !== "forwarded" ? address : `[${address}]${end}`) : `${address}${end}`;
    if (field !== "forwarded") return node;
    return node.includes(":") || node.includes("[") ? `for="${node}"` : `proto=https;for=${node}`;
  });
/** Pieces of the field's own grammar, and anything else that a header may hold. */
const claims = fc.oneof(
  fc.string({ unit: fc.constantFrom('"', "\\", ",", ";", "=", " ", "f", "o", "r", "[", "]", ":", ".", "1", "_", "\t") }),
  fc.string({ unit: fc.constantFrom("for=", '"', "\\", ", ", "192.0.2.1", "10.0.0.9", "[2001:db8::1]", ";by=") }),
  fc.string(),
);

for (const field of ["x-forwarded-for", "forwarded"] as const) {
  test(`property: ${field}: a client cannot influence its address with any header`, () => {
    const written = untrusted.chain((client) => spelled(field)(client).map((element) => ({ client, element })));
    const hops = fc.array(fc.constantFrom("10.1.2.3", "2001:db8:aaaa::5").chain(spelled(field)), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(claims, { maxLength: 3 }), written, hops, fc.boolean(), (sent, { client, element }, passed, isNewLine) => {
        const added = [element, ...passed].join(", ");
        const lines = isNewLine || sent.length === 0 ? [...sent, added] : [...sent.slice(0, -1), `${sent.at(-1)}, ${added}`];
        assert.equal(clientOf(field, PROXY, ...lines), client, JSON.stringify(lines));
        // As one line, which is how some programs keep the lines of a field (RFC 9110 §5.3).
        assert.equal(clientOf(field, PROXY, lines.join(", ")), client, JSON.stringify(lines));
      }),
      { numRuns: 500 },
    );
  });
}

test("property: garbage in any field gives the proxy or an address, never an error", () => {
  fc.assert(
    fc.property(fc.constantFrom(...CLIENT_ADDRESS_FIELDS), fc.array(claims, { maxLength: 4 }), (field, lines) => {
      const client = clientOf(field, PROXY, ...lines);
      assert.equal(canonicalIp(client), client);
    }),
    { numRuns: 500 },
  );
});

test("the parser reads a line of only quotes or escapes to its end", () => {
  for (const unit of ['"', '\\"', ",", "=", 'for="', "10.0.0.1,"]) {
    const line = unit.repeat(16_384);
    for (const field of CLIENT_ADDRESS_FIELDS) assert.ok(canonicalIp(clientOf(field, PROXY, line)) !== undefined);
  }
});
