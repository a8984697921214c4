import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { answerChat, GATEWAY_ACCOUNT, gatewayFront, TEST_CHAT, testProvider } from "../support/gateway-front.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

/** All that comes for these bytes until the other side has ended. */
const told = (port: number, ...pieces: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    socket.on("error", () => undefined).on("data", (bytes) => (text += bytes.toString("latin1")));
    socket.on("end", () => socket.end()).on("close", () => resolve(text));
    void (async () => {
      for (const piece of pieces) {
        socket.write(piece, "latin1");
        await new Promise((next) => setTimeout(next, 20));
      }
    })();
  });

/** Bytes that clients send after a complete request. */
const BEHIND: Readonly<Record<string, string>> = {
  "NUL bytes, as inadyn sends them": "\0".repeat(200),
  "one NUL": "\0",
  "an empty line and a NUL": "\r\n\0",
  "what begins no request": "\x80\xff",
};

const statuses = (text: string): string[] => Array.from(text.matchAll(/HTTP\/1\.[01] (\d{3})/g), ([, status = ""]) => status);

describe("a complete request is answered whatever bytes follow it, and then the connection closes", () => {
  let selvedge: Selvedge;
  let zone: { readonly id: string };
  let origin: TestOrigin;
  let edge: TestEdge;
  before(async () => {
    selvedge = await startSelvedge();
    zone = (
      await api(selvedge, selvedge.ready.token ?? "", "POST", "/zones", {
        name: "padded.example",
        account: { id: selvedge.ready.account_id },
      })
    ).body.result;
    origin = await httpOrigin((_req, res) => res.end("served"));
    edge = await startEdge(siteOps(origin.port));
  });
  after(async () => {
    await edge?.close();
    origin?.close();
    await selvedge?.stop();
  });

  const write = (name: string, fields = ""): string => {
    const body = JSON.stringify({ type: "A", name, content: "192.0.2.1" });
    const authorization = `authorization: Bearer ${selvedge.ready.token}`;
    return `POST /client/v4/zones/${zone.id}/dns_records HTTP/1.1\r\nhost: localhost\r\n${authorization}\r\ncontent-type: application/json\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
  };
  const records = async (name: string): Promise<number> =>
    (await api(selvedge, selvedge.ready.token ?? "", "GET", `/zones/${zone.id}/dns_records?name=${name}.padded.example`)).body.result
      .length;

  let number = 0;
  for (const [what, behind] of [...Object.entries(BEHIND), ["GARBAGE", "GARBAGE"] as const])
    for (const fields of ["", "connection: close\r\n"])
      test(`the management API, ${fields === "" ? "kept" : "closing"}: ${what}`, async () => {
        const port = Number(new URL(selvedge.ready.api).port);
        // Words may yet become a request.
        if (what === "GARBAGE" && fields === "") return;
        for (const pieces of [[behind], ["", behind]]) {
          const name = `r${++number}`;
          const request = write(name, fields);
          const text = await told(port, request + pieces[0], ...pieces.slice(1));
          assert.deepEqual([statuses(text), text.includes('"success":true')], [["200"], true], text);
          assert.equal(await records(name), 1);
        }
      });

  test("the management API answers two requests that arrive together, and does not run half a request", async () => {
    const port = Number(new URL(selvedge.ready.api).port);
    const text = await told(port, `${write("both1")}${write("both2")}\0`);
    assert.deepEqual([statuses(text), await records("both1"), await records("both2")], [["200", "200"], 1, 1]);
    const broken = write("broken", "transfer-encoding: chunked\r\n")
      .replace(/content-length: \d+\r\n/, "")
      .replace(/\r\n\r\n.*$/s, "\r\n\r\nzz\r\n");
    assert.deepEqual([statuses(await told(port, broken)), await records("broken")], [["400"], 0]);
  });

  for (const [what, behind] of Object.entries(BEHIND))
    test(`the edge and the gateway: ${what}`, async (t) => {
      const head = (target: string, fields = ""): string => `GET ${target} HTTP/1.1\r\nhost: www.example.com\r\n${fields}\r\n`;
      for (const fields of ["", "connection: close\r\n"]) {
        const served = await told(edge.http, head("/", fields) + behind);
        assert.deepEqual([statuses(served), served.includes("served")], [["200"], true]);
      }
      assert.deepEqual(
        edge.requests.splice(0).map(({ status }) => status),
        [200, 200],
      );
      const provider = await testProvider(t, (res) => answerChat(res, "hello"));
      const { port, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
      const body = JSON.stringify(TEST_CHAT);
      const chat = `POST /v1/${GATEWAY_ACCOUNT}/gw/openai/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      assert.deepEqual(statuses(await told(port, chat + behind)), ["200"]);
      assert.deepEqual(
        rows.map(({ status_code, success }) => [status_code, success]),
        [[200, true]],
      );
    });
});
