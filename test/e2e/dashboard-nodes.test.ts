import assert from "node:assert/strict";
import { test } from "node:test";
import { chrome, graveViolations, startBrowser, textsOutside } from "../support/browser.ts";
import { fleetCommand, startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = (chrome === undefined && "chromium is not installed") || toolOrSkip("nats-server") || toolOrSkip("postgres");

test("the page of nodes shows the command for the first one, a node that waits, serves, and is away", { skip }, async (t) => {
  const world = await startFleet(t);
  const browser = await startBrowser(() => world.origin);
  t.after(() => browser.close());
  const context = await browser.context();
  const page = await context.newPage();
  await page.goto(world.origin);
  await page.getByLabel("Token from the terminal").fill(world.token);
  await page.getByLabel("Your e-mail").fill("ada@example.com");
  await page.locator("input[name=password]").fill("correct horse battery");
  await page.getByRole("button", { name: "Create the first user" }).click();
  await page.getByRole("link", { name: "Nodes", exact: true }).click();
  await page.getByRole("heading", { name: "Every plane runs on this server" }).waitFor();
  await page.getByText(/^selvedge node token /).waitFor();
  const guide = await page.getByRole("link", { name: "How to add one" }).getAttribute("href");
  assert.equal((await fetch(world.origin + guide)).status, 200);
  assert.deepEqual(await graveViolations(page), []);

  await fleetCommand(world.env, "node", "token", "--name", "fra-1", "--planes", "edge", "--addresses", "203.0.113.10");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await row("fra-1").getByText("Its join token has not been used.").waitFor();
  await row("fra-1").getByText("203.0.113.10").waitFor();
  const node = await world.start(await world.join("ams-1", "nameserver"));
  await row("ams-1").getByText("serves").waitFor();
  await row("ams-1").getByText("up to date").waitFor();
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      const other = await browser.context({ viewport: { width, height: 800 }, colorScheme, storageState: await context.storageState() });
      const shown = await other.newPage();
      await shown.goto(page.url());
      await shown.getByRole("table", { name: "Nodes" }).waitFor();
      assert.deepEqual(await textsOutside(shown), [], `too wide at ${width}`);
      assert.deepEqual(await graveViolations(shown), [], `${colorScheme}, ${width}`);
      if (process.env["SELVEDGE_PICTURES"])
        await shown.screenshot({ path: `${process.env["SELVEDGE_PICTURES"]}/nodes-${width}-${colorScheme}.png`, fullPage: true });
      await other.close();
    }
  await node.kill();
  await row("ams-1").getByText("Nothing was heard of it for five seconds.").waitFor();
  assert.deepEqual(browser.faults, []);
});
