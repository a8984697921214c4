import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { GATEWAY_ACCOUNT, gatewayFront, gatewayOp, testProvider } from "../../test/support/gateway-front.ts";

const PATH = `/v1/${GATEWAY_ACCOUNT}/gw`;

/** The fields of the answer, without following a redirect. */
const fieldsOf = (port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const req = request({ port, path, method: "POST", headers: { host: "gateway.test", ...headers } }, (res) => {
      res.resume();
      resolve(res.headers);
    });
    req.on("error", reject);
    req.end("{}");
  });

test("addresses that a provider names below its base lead to the gateway, and others are those of the provider", async (t) => {
  let links: (site: string) => Readonly<Record<string, string>> = () => ({});
  const provider = await testProvider(t, (res) => res.writeHead(307, links(provider.url)).end());
  const { port, edgePort } = await gatewayFront(t, {
    config: { edgePort: 0 },
    providers: { openai: `${provider.url}/v1`, "google-ai-studio": provider.url, "azure-openai": provider.url },
    ops: [gatewayOp("gw")],
  });
  const upload = `${PATH}/google-ai-studio/upload/v1beta/files`;
  links = (site) => ({ "x-goog-upload-url": `${site}/upload/v1beta/files?upload_id=1`, location: "next?page=2" });
  const google = await fieldsOf(port, `${upload}?key=a`);
  assert.equal(google["x-goog-upload-url"], `http://gateway.test${upload}?upload_id=1`);
  assert.equal(google["location"], `${PATH}/google-ai-studio/upload/v1beta/next?page=2`);
  const behindProxy = await fieldsOf(port, upload, { "x-forwarded-proto": "https" });
  assert.equal(behindProxy["x-goog-upload-url"], `https://gateway.test${upload}?upload_id=1`);
  const behindEdge = await fieldsOf(edgePort, upload, { "x-forwarded-proto": "https" });
  assert.equal(behindEdge["x-goog-upload-url"], `https://gateway.test${upload}?upload_id=1`);
  assert.ok(provider.seen.every(({ headers }) => headers["x-forwarded-proto"] === undefined));
  const absolute = await fieldsOf(port, `http://gateway.test${upload}`);
  assert.equal(absolute["x-goog-upload-url"], `http://gateway.test${upload}?upload_id=1`);

  const cases: readonly (readonly [string, string])[] = [
    ["/v1/models/", `${PATH}/openai/models/`],
    [`${provider.url}/v1/files/1#a`, `${PATH}/openai/files/1#a`],
    ["/elsewhere", `${provider.url}/elsewhere`],
    ["/v1/../v10/files", `${provider.url}/v10/files`],
    ["https://cdn.test/v1/file", "https://cdn.test/v1/file"],
    ["http://", "http://"],
  ];
  for (const [location, seen] of cases) {
    links = () => ({ location });
    assert.equal((await fieldsOf(port, `${PATH}/openai/files/1/content`))["location"], seen);
  }
  // A resource and a deployment are parts of the path at the gateway, which an address does not tell.
  links = (site) => ({ "operation-location": `${site}/openai/operations/1` });
  const azure = await fieldsOf(port, `${PATH}/azure-openai/resource/deployment/images/generations`);
  assert.equal(azure["operation-location"], `${provider.url}/openai/operations/1`);
});
