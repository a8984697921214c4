import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FLAG, OPCODE, RCODE, TYPE } from "#wire/dns/codes.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { askTcp, askUdp } from "../support/dns-client.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

const ZONE = "compliance.test";
/** Flags beside those of RFC 1035: the bit that must be zero (§4.1.1), and those of DNSSEC (RFC 4035 §3.2). */
const [Z, AD, CD] = [0x0040, 0x0020, 0x0010] as const;
const DO = 0x8000;
/** Codes of EDNS options; 100 is assigned to nobody. */
const [NSID, SUBNET, EXPIRE, COOKIE, UNKNOWN] = [3, 8, 9, 10, 100] as const;
const OPTION_DATA: Readonly<Record<number, string>> = { [SUBNET]: "00010000", [COOKIE]: "0102030405060708" };

interface Question {
  readonly opcode?: number;
  /** Header flags of the query. */
  readonly flags?: number;
  /** Null: a header alone. */
  readonly type?: number | null;
  readonly edns?: {
    readonly version?: number;
    readonly flags?: number;
    readonly options?: readonly number[];
    readonly bytes?: number;
  };
}

/** Questions of ISC's compliance tester for authoritative servers, by its names. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  dns: {},
  aa: { flags: FLAG.AA },
  ad: { flags: AD },
  cd: { flags: CD },
  ra: { flags: FLAG.RA },
  rd: { flags: FLAG.RD },
  tc: { flags: FLAG.TC },
  zflag: { flags: Z },
  opcode: { opcode: 15, type: null },
  opcodeflg: { opcode: 15, type: null, flags: FLAG.AA | FLAG.TC | FLAG.RD | FLAG.RA | Z | AD | CD },
  type666: { type: 666 },
  edns: { edns: {} },
  edns1: { edns: { version: 1 } },
  "edns@512": { type: TYPE.DNSKEY, edns: { bytes: 512, flags: DO } },
  ednsopt: { edns: { options: [UNKNOWN] } },
  edns1opt: { edns: { version: 1, options: [UNKNOWN] } },
  do: { edns: { flags: DO } },
  docd: { flags: CD, edns: { flags: DO } },
  edns1do: { edns: { version: 1, flags: DO } },
  ednsflags: { edns: { flags: 0x0080 } },
  edns1flags: { edns: { version: 1, flags: 0x0080 } },
  optlist: { edns: { options: [NSID, SUBNET, EXPIRE, COOKIE] } },
  ednsnsid: { edns: { options: [NSID] } },
  ednscookie: { edns: { options: [COOKIE] } },
  ednsexpire: { edns: { options: [EXPIRE] } },
  ednssubnet: { edns: { options: [SUBNET] } },
  edns1nsid: { edns: { version: 1, options: [NSID] } },
  edns1cookie: { edns: { version: 1, options: [COOKIE] } },
  edns1expire: { edns: { version: 1, options: [EXPIRE] } },
  edns1subnet: { edns: { version: 1, options: [SUBNET] } },
  signed: { type: TYPE.DNSKEY, edns: { flags: DO } },
  bind11: { flags: AD, edns: { flags: DO, options: [COOKIE] } },
  dig11: { flags: FLAG.RD | AD, edns: { options: [COOKIE] } },
};

function encode({ opcode = OPCODE.QUERY, flags = 0, type = TYPE.SOA, edns }: Question, id: number): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE((opcode << 11) | flags, 2);
  header.writeUInt16BE(type === null ? 0 : 1, 4);
  header.writeUInt16BE(edns === undefined ? 0 : 1, 10);
  const question =
    type === null ? Buffer.alloc(0) : Buffer.concat([parseAbsoluteName(`${ZONE}.`), Buffer.of(type >> 8, type & 0xff, 0, 1)]);
  return Buffer.concat([header, question, ...(edns === undefined ? [] : [encodeOpt(edns)])]);
}

function encodeOpt({ version = 0, flags = 0, options = [], bytes = 4096 }: NonNullable<Question["edns"]>): Buffer {
  const data = Buffer.concat(
    options.map((code) => {
      const value = Buffer.from(OPTION_DATA[code] ?? "", "hex");
      return Buffer.concat([Buffer.of(0, code, 0, value.length), value]);
    }),
  );
  const opt = Buffer.alloc(11);
  opt.writeUInt16BE(TYPE.OPT, 1);
  opt.writeUInt16BE(bytes, 3);
  opt.writeUInt8(version, 6);
  opt.writeUInt16BE(flags, 7);
  opt.writeUInt16BE(data.length, 9);
  return Buffer.concat([opt, data]);
}

/** The OPT record of a response without names after it: the last record, with the root as its owner. */
function optOf(
  response: Buffer,
): { readonly rcode: number; readonly version: number; readonly flags: number; readonly options: readonly number[] } | null {
  if (response.readUInt16BE(10) === 0) return null;
  for (let at = response.length - 11; at >= 12; at--) {
    if (response.readUInt8(at) !== 0 || response.readUInt16BE(at + 1) !== TYPE.OPT) continue;
    if (at + 11 + response.readUInt16BE(at + 9) !== response.length) continue;
    const options: number[] = [];
    for (let option = at + 11; option < response.length; option += 4 + response.readUInt16BE(option + 2))
      options.push(response.readUInt16BE(option));
    return { rcode: response.readUInt8(at + 5), version: response.readUInt8(at + 6), flags: response.readUInt16BE(at + 7), options };
  }
  return null;
}

function check(name: string, { opcode = OPCODE.QUERY, flags = 0, type = TYPE.SOA, edns }: Question, response: Buffer): void {
  const head = response.readUInt16BE(2);
  const opt = optOf(response);
  const has = (flag: number): boolean => (head & flag) !== 0;
  assert.ok(has(FLAG.QR), `${name}: a response`);
  assert.equal((head >> 11) & 0xf, opcode, `${name}: its opcode`);
  assert.ok(
    ![...(edns?.bytes === 512 ? [] : [FLAG.TC]), FLAG.RA, AD, Z].some(has),
    `${name}: flags that are no answer to anything: ${head.toString(16)}`,
  );
  assert.equal(opt !== null, edns !== undefined, `${name}: EDNS exactly where it was asked`);
  const rcode = ((opt?.rcode ?? 0) << 4) | (head & 0xf);
  if (opcode !== OPCODE.QUERY) {
    assert.deepEqual([rcode, has(FLAG.AA), has(FLAG.RD), has(CD)], [RCODE.NOTIMP, false, false, false], name);
    return;
  }
  assert.equal(has(FLAG.RD), (flags & FLAG.RD) !== 0, `${name}: RD as in the query`);
  if (opt !== null) {
    assert.equal(opt.version, 0, `${name}: the highest version that the server knows`);
    assert.equal(opt.flags & ~DO, 0, `${name}: no flags that nobody has defined`);
    assert.ok(!opt.options.includes(UNKNOWN), `${name}: no option that the server does not know`);
  }
  const answers = response.readUInt16BE(6);
  if ((edns?.version ?? 0) > 0) return assert.deepEqual([rcode, answers], [RCODE.BADVERS, 0], name);
  assert.deepEqual([rcode, has(FLAG.AA)], [RCODE.NOERROR, true], name);
  if (type === TYPE.SOA) assert.ok(answers > 0, `${name}: an answer`);
  if (type === 666) assert.equal(answers, 0, name);
  if (edns?.flags === DO) assert.equal(opt?.flags, DO, `${name}: DO as in the query`);
  if (edns?.options?.includes(COOKIE)) assert.ok(opt?.options.includes(COOKIE), `${name}: a cookie`);
}

/** The sections after the header are read by other tests; here it is flags, codes and EDNS alone. */
describe("questions of a compliance tester", () => {
  let selvedge: Selvedge;
  let port: number;
  before(async () => {
    selvedge = await startSelvedge();
    const call = apiCaller(selvedge.ready, selvedge.ready.token ?? "");
    const { id } = await succeed(call("POST", "/zones", { name: ZONE, account: { id: selvedge.ready.account_id } }));
    await succeed(call("PATCH", `/zones/${id}/dnssec`, { status: "active" }));
    port = Number(selvedge.ready.dns.split(":").at(-1));
  });
  after(() => selvedge?.stop());

  for (const [transport, ask] of Object.entries({ UDP: askUdp, TCP: askTcp }))
    for (const [index, [name, question]] of Object.entries(QUESTIONS).entries())
      test(`${name} over ${transport}`, async () => {
        const [response] = await ask(port, [encode(question, 1000 + index)]);
        assert.ok(response);
        check(name, question, response);
      });
});
