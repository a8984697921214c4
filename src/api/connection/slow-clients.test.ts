import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { type ApiServer, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../../../test/support/api-server.ts";

const clock = fixedClock("2026-01-01");
let server: ApiServer;
before(async () => {
  server = await startApi({ clock });
});
after(() => server.close());

const COMMENT = "x".repeat(200_000);
const body = (): string => JSON.stringify({ name: "slow.example", account: { id: server.account_id }, comment: COMMENT });

interface Client {
  readonly socket: Socket;
  /** The received bytes so far. */
  answer(): string;
  send(text: string): Promise<void>;
}

async function open(): Promise<Client> {
  const socket = connect(server.port, "127.0.0.1").setEncoding("utf8");
  let answer = "";
  socket.on("data", (text: string) => (answer += text)).on("error", () => {});
  await once(socket, "connect");
  return {
    socket,
    answer: () => answer,
    send: (text) => new Promise((resolve) => socket.write(text, () => resolve())),
  };
}

const head = (length: number): string =>
  [
    "POST /client/v4/zones HTTP/1.1",
    "Host: api.test",
    `X-Auth-Email: ${OWNER_EMAIL}`,
    `X-Auth-Key: ${OWNER_KEY}`,
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    "",
    "",
  ].join("\r\n");

const sweeps = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 4_500));

test("a body that keeps arriving may take minutes, and one that stops gets 408 and a closed connection", { timeout: 60_000 }, async () => {
  const [steady, stopped] = [await open(), await open()];
  const text = body();
  await steady.send(head(text.length) + text.slice(0, 100_000));
  await stopped.send(head(text.length) + text.slice(0, 10));
  // Both have been read by the time that another request is answered.
  await ask(server, "GET", "/zones");
  clock.advance(40_000);
  const [ended] = await Promise.all([once(stopped.socket, "close"), sweeps()]);
  assert.equal(ended[0], false);
  assert.match(stopped.answer(), /^HTTP\/1\.1 408 /);
  assert.match(stopped.answer(), /"code":10408/);
  assert.equal(steady.answer(), "");
  await steady.send(text.slice(100_000));
  while (!steady.answer().includes("\r\n\r\n")) await once(steady.socket, "data");
  assert.match(steady.answer(), /^HTTP\/1\.1 200 /);
  steady.socket.destroy();
});

test("an unexpected body has the same minimum rate", { timeout: 60_000 }, async () => {
  const stranger = await open();
  await stranger.send("POST /client/v4/zones HTTP/1.1\r\nHost: api.test\r\nContent-Length: 100000\r\n\r\nx");
  while (!stranger.answer().includes("\r\n\r\n")) await once(stranger.socket, "data");
  assert.match(stranger.answer(), /^HTTP\/1\.1 40[01] /);
  if (!stranger.socket.destroyed) {
    clock.advance(31_000);
    await once(stranger.socket, "close");
  }
});

test("a connection without requests is closed despite empty lines, and one with a request stays open", { timeout: 60_000 }, async () => {
  const [idle, busy] = [await open(), await open()];
  await idle.send("GET /client/v4/openapi.json HTTP/1.1\r\nHost: api.test\r\n\r\n");
  while (!idle.answer().includes("\r\n\r\n")) await once(idle.socket, "data");
  clock.advance(70_000);
  await idle.send("\r\n");
  const text = body();
  await busy.send(head(text.length) + text.slice(0, -1));
  await ask(server, "GET", "/zones");
  clock.advance(3_000);
  const closed = once(idle.socket, "close");
  await Promise.all([closed, sweeps()]);
  assert.equal(busy.socket.destroyed, false);
  busy.socket.destroy();
});

test("a client that does not read a long response is disconnected", { timeout: 60_000 }, async () => {
  const reader = await open();
  reader.socket.pause();
  // More than the buffers of both ends hold.
  const ask1 = `GET /client/v4/openapi.json HTTP/1.1\r\nHost: api.test\r\n\r\n`;
  await reader.send(ask1.repeat(40));
  await sweeps();
  assert.equal(reader.socket.destroyed, false);
  clock.advance(61_000);
  await sweeps();
  reader.socket.resume();
  await once(reader.socket, "close");
});
