import assert from "node:assert/strict";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { chrome, graveViolations, startBrowser } from "../support/browser.ts";
import { startSelvedge } from "../support/selvedge.ts";

const READ_ONLY = "4e7c48cd86c3ef2b6eb6de0a3e2a0b1b";

test(
  "the link of an invitation leads to a page where the invited person chooses a password and is signed in, or declines",
  { skip: chrome === undefined && "chromium is not installed" },
  async (t) => {
    const server = await startSelvedge();
    t.after(() => server.stop());
    const call = apiCaller(server.ready);
    const home = new URL(server.ready.api).origin;
    const members = `/accounts/${server.ready.account_id}/members`;
    const invite = async (email: string): Promise<{ id: string; secret: string }> => {
      const { id, invitation } = await succeed(call("POST", members, { email, roles: [READ_ONLY] }));
      return { id, secret: invitation.secret };
    };
    const browser = await startBrowser(() => home);
    t.after(() => browser.close());
    const page = await (await browser.context()).newPage();

    const owner = await (await browser.context()).newPage();
    await owner.goto(`${home}/account/members`);
    await owner.getByRole("button", { name: "Sign in with an API token only" }).click();
    await owner
      .getByLabel("Token")
      .first()
      .fill(server.ready.token ?? "");
    await owner.getByRole("button", { name: "Sign in", exact: true }).click();
    await owner.getByRole("button", { name: "Invite" }).click();
    await owner.getByLabel("E-mail").fill("grace@example.com");
    await owner.getByRole("dialog").getByRole("button", { name: "Invite", exact: true }).click();
    const link = owner.getByText(`${home}/#invitation=`);
    await link.waitFor();
    assert.deepEqual(await graveViolations(owner), []);
    const grace = await (await browser.context()).newPage();
    await grace.goto((await link.textContent()) ?? "");
    await grace.getByText("invites grace@example.com as Administrator Read Only").waitFor();

    const ada = await invite("ada@example.com");
    await page.goto(`${home}/#invitation=${ada.secret}`);
    await page.getByText("invites ada@example.com as Administrator Read Only").waitFor();
    assert.deepEqual(await graveViolations(page), []);
    await page.getByLabel("First name").fill("Ada");
    await page.getByLabel("Password", { exact: false }).first().fill("correct horse battery");
    await page.getByRole("button", { name: "Accept" }).click();
    await page.getByRole("navigation").first().waitFor();
    const member = await succeed(call("GET", `${members}/${ada.id}`));
    assert.deepEqual([member.status, member.user.first_name], ["accepted", "Ada"]);

    const other = await invite("other@example.com");
    const second = await (await browser.context()).newPage();
    await second.goto(`${home}/#invitation=${other.secret}`);
    await second.getByRole("button", { name: "Decline" }).click();
    await second.waitForURL(`${home}/`);
    assert.equal((await succeed(call("GET", `${members}/${other.id}`))).status, "rejected");
    const third = await (await browser.context()).newPage();
    await third.goto(`${home}/#invitation=${other.secret}`);
    await third.getByText("does not exist, or has ended").waitFor();
    assert.deepEqual(browser.faults, []);
  },
);
