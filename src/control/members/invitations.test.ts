import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { fixedClock } from "#kernel/clock.ts";
import { type ApiServer, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../../../test/support/api-server.ts";

const [ADMINISTRATOR, READ_ONLY] = ["05784afa30c1afe1440e79d9351c7430", "4e7c48cd86c3ef2b6eb6de0a3e2a0b1b"] as const;
const PASSWORD = "correct horse battery";
const DAY_MS = 86_400_000;
const START = "2026-05-06T12:00:00Z";

const mails: string[] = [];
let isRefusing = false;
const smtp = new SMTPServer({
  authOptional: true,
  onRcptTo: (_address, _session, done) => done(isRefusing ? new Error("no such mailbox") : null),
  onData: (stream, _session, done) => {
    let text = "";
    stream.on("data", (part: Buffer) => (text += part.toString("utf8")));
    stream.on("end", () => {
      mails.push(text.replaceAll("=\r\n", "").replaceAll("=3D", "="));
      done();
    });
  },
});
const clock = fixedClock(START);
let server: ApiServer;
let unmailed: ApiServer;

const invite = (on: ApiServer, email: string, roles: readonly string[] = [READ_ONLY], asking: object = {}) =>
  ask(on, "POST", `/accounts/${on.account_id}/members`, { ...asking, body: { email, roles } });
const as = (secret: string) => ({ token: null, headers: { authorization: `Invitation ${secret}` } });
const basic = (email: string) => ({
  token: null,
  headers: { authorization: `Basic ${Buffer.from(`${email}:${PASSWORD}`).toString("base64")}` },
});
const lastSecret = (): string => /#invitation=([\w.~-]+)/.exec(mails.at(-1) ?? "")?.[1] ?? assert.fail(mails.at(-1));

before(async () => {
  smtp.listen(0, "127.0.0.1");
  await once(smtp.server, "listening");
  const mailServer = {
    host: "127.0.0.1",
    port: (smtp.server.address() as AddressInfo).port,
    username: "",
    password: "",
    from: "edge@example.com",
  };
  server = await startApi({ clock, mailServer, dashboardUrl: "https://dash.example" });
  unmailed = await startApi({ clock });
  // Nobody else is as old as the first user.
  clock.advance(1000);
});
after(async () => {
  await server.close();
  await unmailed.close();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

test("a stranger gets a link by e-mail, chooses a password with it, and has the roles from then on", async () => {
  const invited = await invite(server, "Ada@Example.com");
  assert.equal(invited.status, 200, invited.text);
  const { id, status, email, invitation } = invited.body.result;
  assert.deepEqual([status, email, Object.keys(invitation)], ["pending", "ada@example.com", ["expires_on"]]);
  const secret = lastSecret();
  assert.match(mails.at(-1) ?? "", /^Subject: Invitation to the account /m);
  assert.match(mails.at(-1) ?? "", /https:\/\/dash\.example\/#invitation=/);
  assert.ok(!invited.text.includes(secret), "the inviter does not learn the secret");
  const stored = JSON.stringify(await server.store.read.selectFrom("invitations").selectAll().execute());
  assert.ok(!stored.includes(secret) && !server.logged.join().includes(secret));

  const seen = (await ask(server, "GET", "/invites/current", as(secret))).body.result;
  assert.deepEqual([seen.email, seen.account.id, seen.roles], ["ada@example.com", server.account_id, ["Administrator Read Only"]]);
  assert.equal((await ask(server, "GET", "/user", as(secret))).status, 403, "the secret is good for nothing else");
  assert.equal((await ask(server, "POST", "/user/sessions", { ...basic("ada@example.com"), body: {} })).status, 403);
  const accept = { ...as(secret), body: { password: PASSWORD, first_name: "Ada" } };
  assert.equal((await ask(server, "POST", "/invites/current/accept", { ...accept, body: { password: "short" } })).status, 400);
  const accepted = await ask(server, "POST", "/invites/current/accept", accept);
  assert.equal(accepted.status, 200, accepted.text);
  assert.equal((await ask(server, "POST", "/invites/current/accept", accept)).status, 403, "once");
  assert.equal((await ask(server, "POST", "/user/sessions", { ...basic("ada@example.com"), body: {} })).status, 200);
  const member = (await ask(server, "GET", `/accounts/${server.account_id}/members/${id}`)).body.result;
  assert.deepEqual([member.status, member.user.first_name, member.invitation], ["accepted", "Ada", undefined]);
});

test("the address proves nobody else's account: a link of a second account sets no password", async () => {
  await invite(server, "grace@example.com");
  const first = lastSecret();
  const other = (await ask(server, "POST", "/accounts", { body: { name: "other" } })).body.result.id;
  await ask(server, "POST", `/accounts/${other}/members`, { body: { email: "grace@example.com", roles: [READ_ONLY] } });
  const second = lastSecret();
  assert.notEqual(first, second);
  assert.equal((await ask(server, "POST", "/invites/current/accept", { ...as(first), body: { password: PASSWORD } })).status, 200);
  const late = await ask(server, "POST", "/invites/current/accept", { ...as(second), body: { password: "another long password" } });
  assert.deepEqual([late.status, late.body.errors[0].code], [409, 10439]);
  const owner = await invite(server, OWNER_EMAIL);
  assert.equal(owner.status, 400, "a member already");
  const third = (await ask(server, "POST", "/accounts", { body: { name: "third" } })).body.result.id;
  await ask(server, "POST", `/accounts/${third}/members`, { body: { email: "grace@example.com", roles: [READ_ONLY] } });
  assert.ok(!(mails.at(-1) ?? "").includes("#invitation="), "a user signs in to accept");
});

test("an invited person who declines does not become a member, and may be invited again", async () => {
  const { id } = (await invite(server, "no@example.com")).body.result;
  const secret = lastSecret();
  assert.equal((await ask(server, "POST", "/invites/current/decline", as(secret))).body.result.id, id);
  assert.equal((await ask(server, "GET", "/invites/current", as(secret))).status, 403);
  assert.equal((await ask(server, "GET", `/accounts/${server.account_id}/members/${id}`)).body.result.status, "rejected");
  const again = await invite(server, "no@example.com");
  assert.equal(again.status, 200, again.text);
  assert.equal((await invite(server, "no@example.com")).status, 400, "one at a time");
});

test("an invitation ends after seven days, and leaves nothing", async () => {
  const { id } = (await invite(server, "late@example.com")).body.result;
  const secret = lastSecret();
  clock.advance(7 * DAY_MS - 1000);
  assert.equal((await ask(server, "GET", "/invites/current", as(secret))).status, 200);
  await server.control.invitations.forget();
  clock.advance(1000);
  assert.equal((await ask(server, "POST", "/invites/current/accept", { ...as(secret), body: { password: PASSWORD } })).status, 403);
  assert.equal((await server.control.organizationInvites.get(server.account_id, id)).status, "expired");
  await server.control.invitations.forget();
  assert.equal((await ask(server, "GET", `/accounts/${server.account_id}/members/${id}`)).status, 404);
  const users = await server.store.read.selectFrom("users").select("email").execute();
  const emails = users.map(({ email }) => email);
  assert.ok(!emails.includes("late@example.com"));
  for (const kept of [OWNER_EMAIL, "ada@example.com", "grace@example.com"]) assert.ok(emails.includes(kept), kept);
});

test("a refused e-mail is said, and an account cannot send without end", async () => {
  isRefusing = true;
  const refused = await invite(server, "bad@example.com");
  isRefusing = false;
  assert.match(refused.body.messages[0].message, /^The e-mail was not sent: /);
  let last = refused;
  for (let n = 0; n < 100 && last.status !== 429; n++) last = await invite(server, `many${n}@example.com`);
  assert.equal(last.status, 429);
});

test("without a mail server, only the first user gets the secret, and others cannot invite strangers", async () => {
  const { id, invitation } = (await invite(unmailed, "ada@example.com", [ADMINISTRATOR])).body.result;
  assert.match(invitation.secret, /^[\w-]{40}$/);
  assert.equal((await ask(unmailed, "GET", `/accounts/${unmailed.account_id}/members/${id}`)).body.result.invitation.secret, undefined);
  const accept = { ...as(invitation.secret), body: { password: PASSWORD } };
  assert.equal((await ask(unmailed, "POST", "/invites/current/accept", accept)).status, 200);
  const session = await ask(unmailed, "POST", "/user/sessions", { ...basic("ada@example.com"), body: {} });
  const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const origin = new URL(unmailed.url).origin;
  const theirs = { token: null, headers: { cookie, origin, "sec-fetch-site": "same-origin", "x-requested-with": "selvedge" } };
  const refused = await invite(unmailed, "grace@example.com", [READ_ONLY], theirs);
  assert.deepEqual([refused.status, refused.body.errors[0].source?.pointer], [404, "/email"], refused.text);
  const mine = { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": OWNER_KEY } };
  assert.equal((await invite(unmailed, "grace@example.com", [READ_ONLY], mine)).status, 200);
  assert.equal((await invite(unmailed, "no address", [READ_ONLY], mine)).status, 400);
});
