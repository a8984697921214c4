import assert from "node:assert/strict";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { PurgeEntry } from "#snapshot/entries.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("purges are numbered, and a zone keeps the newest until everything is purged", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "free" };
  const entry = async (): Promise<PurgeEntry | undefined> =>
    (await rebuildSnapshot(store)).ops.find((op) => op.kind === "purge" && op.id === id)?.value as PurgeEntry | undefined;
  assert.equal(await entry(), undefined);

  const first = call();
  assert.deepEqual(await control.cachePurges.purge(first, zone, { tags: ["One"] }), { id });
  assert.deepEqual((await store.changesSince((first.rev ?? 0) - 1, 1))?.[0]?.changes, [
    { kind: "purge", id, value: { count: 1, recent: [{ by: "tags", values: ["one"] }] } },
  ]);
  await control.cachePurges.purge(call(), zone, {
    files: [
      "HTTP://WWW.one.example:80/A%20b?x=1#f",
      { url: "https://one.example", headers: { Origin: "https://b.example" } },
      "http://one.example/café?ä",
    ],
  });
  assert.deepEqual((await entry())?.recent[1], {
    by: "files",
    values: ["http://www.one.example/A%20b?x=1", "https://one.example/", "http://one.example/caf%C3%A9?%C3%A4"],
  });
  await control.cachePurges.purge(call(), zone, { prefixes: ["WWW.one.example/A", "one.example", "one.example/é"] });
  assert.deepEqual((await entry())?.recent[2], { by: "prefixes", values: ["www.one.example/A", "one.example/", "one.example/%C3%A9"] });

  // A large purge drops earlier ones, and never itself.
  const hosts = Array.from({ length: 100 }, (_, i) => `h${i}.one.example`);
  for (let i = 0; i < 3; i++) await control.cachePurges.purge(call(), zone, { hosts });
  assert.deepEqual([(await entry())?.count, (await entry())?.recent.length], [6, 2]);
  await control.cachePurges.purge(call(), zone, { purge_everything: true });
  assert.deepEqual(await entry(), { count: 7, recent: [] });

  const removal = call();
  await control.zones.delete(removal, id);
  const changes = (await store.changesSince((removal.rev ?? 0) - 1, 1))?.[0]?.changes ?? [];
  assert.deepEqual(
    changes.filter(({ kind }) => kind === "purge"),
    [{ kind: "purge", id, value: null }],
  );
  assert.equal(await entry(), undefined);
});

storeTest("an empty purge, a mixed one, a too large one and one of another zone are refused and change nothing", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const purge = (body: object, plan = "free") => control.cachePurges.purge(call(), { id, name, account_id, plan }, body);
  const rows: readonly (readonly [body: object, source: string | undefined])[] = [
    [{}, undefined],
    [{ purge_everything: false }, undefined],
    [{ tags: ["a"], hosts: ["one.example"] }, undefined],
    [{ purge_everything: true, tags: ["a"] }, undefined],
    [{ hosts: Array.from({ length: 101 }, () => "one.example") }, "/hosts"],
    [{ files: Array.from({ length: 101 }, () => "http://one.example/") }, "/files"],
    [{ hosts: ["one.example", "two.example"] }, "/hosts/1"],
    [{ hosts: ["notone.example"] }, "/hosts/0"],
    [{ hosts: ["one.example/a"] }, "/hosts/0"],
    [{ files: ["/a.css"] }, "/files/0"],
    [{ files: ["ftp://one.example/a.css"] }, "/files/0"],
    [{ files: ["http://two.example/?http://one.example/"] }, "/files/0"],
    [{ files: ["http://user@one.example/"] }, "/files/0"],
    [{ files: [{ url: "http://two.example/" }] }, "/files/0"],
    [{ tags: ["a b"] }, "/tags/0"],
    [{ tags: ["a,b"] }, "/tags/0"],
    [{ prefixes: ["two.example/one.example"] }, "/prefixes/0"],
    [{ prefixes: ["https://one.example/a"] }, "/prefixes/0"],
  ];
  for (const [body, source] of rows)
    await assert.rejects(
      purge(body),
      (error) => error instanceof PlatformError && error.code === 1012 && error.source === source,
      JSON.stringify(body),
    );
  await assert.rejects(
    purge({ tags: ["a"], files: ["http://one.example/"] }),
    /contain only one of "files", "tags"; send one request for each/,
  );
  await purge({ purge_everything: false, files: Array.from({ length: 500 }, () => "http://one.example/") }, "enterprise");
  assert.equal((await rebuildSnapshot(store)).ops.filter(({ kind }) => kind === "purge").length, 1);
});
