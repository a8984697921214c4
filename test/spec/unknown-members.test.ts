import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

let server: ApiServer;
before(async () => (server = await startApi()));
after(() => server.close());

const NOTE = 10002;
const noteOf = (...names: readonly string[]): object => ({
  code: NOTE,
  message: `Members of the body without a meaning here were dropped: ${names.map((name) => JSON.stringify(name)).join(", ")}.`,
});

test("the rules of a tunnel lose members that no connector knows, and the response names them", async () => {
  const tunnels = `/accounts/${server.account_id}/cfd_tunnel`;
  const made = await ask(server, "POST", tunnels, { body: { name: "office", config_src: "cloudflare", colour: "red" } });
  assert.deepEqual(made.body.messages, [noteOf("colour")]);
  const rules = [
    { hostname: "a.example", service: "http://10.0.0.1", originRequest: { noTLSVerify: true } },
    { service: "http_status:404" },
  ];
  const [first, last] = rules;
  const ingress = [
    { ...first, originRequest: { noTLSVerify: true, noTlsVerify: true } },
    { ...last, hostnme: "b.example" },
  ];
  const path = `${tunnels}/${made.body.result.id}/configurations`;
  const written = await ask(server, "PUT", path, { body: { config: { ingress, extra: 1 }, tunnel_id: "x" } });
  assert.deepEqual(written.body.messages, [
    noteOf("config.ingress.0.originRequest.noTlsVerify", "config.ingress.1.hostnme", "config.extra", "tunnel_id"),
  ]);
  assert.deepEqual(written.body.result.config, { ingress: rules });
  assert.deepEqual((await ask(server, "GET", path)).body.result.config, { ingress: rules });
  assert.deepEqual((await ask(server, "PUT", path, { body: { config: { ingress: rules } } })).body.messages, []);
});

test("an image, a variant and an order of a certificate do so too", async () => {
  const images = `/accounts/${server.account_id}/images`;
  const variant = { id: "wide", options: { fit: "cover", width: 10, height: 10, metadata: "none", blur: 3 } };
  const made = await ask(server, "POST", `${images}/v1/variants`, { body: variant });
  assert.deepEqual(made.body.messages, [noteOf("options.blur")]);
  const draft = await ask(server, "POST", `${images}/v2/direct_upload`, { form: { creator: "a", metadata: '{"any":1}', colour: "red" } });
  assert.deepEqual(draft.body.messages, [noteOf("colour")]);
  const edit = { metadata: { any: { thing: 1 } }, colour: "red" };
  const edited = await ask(server, "PATCH", `${images}/v1/${draft.body.result.id}`, { body: edit });
  assert.deepEqual([edited.body.messages, edited.body.result.meta], [[noteOf("colour")], edit.metadata]);

  const zone = await ask(server, "POST", "/zones", { body: { name: "example.com", account: { id: server.account_id }, type: "full" } });
  const order = { type: "advanced", hosts: ["example.com"], cloudflare_branding: true, svc_branding: false, colour: "red" };
  const ordered = await ask(server, "POST", `/zones/${zone.body.result.id}/ssl/certificate_packs/order`, { body: order });
  assert.deepEqual([ordered.status, ordered.body.messages], [200, [noteOf("colour")]]);
});
