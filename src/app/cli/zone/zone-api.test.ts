import assert from "node:assert/strict";
import { test } from "node:test";
import { plainZoneName } from "./zone-api.ts";

test("a zone is found in every spelling of its name", () => {
  for (const name of ["Bücher.example", "BÜCHER.example.", "xn--bcher-kva.example", "XN--BCHER-KVA.EXAMPLE."])
    assert.equal(plainZoneName(name), "xn--bcher-kva.example");
  assert.equal(plainZoneName("_no name."), "_no name", "what is none is for the API to refuse");
});
