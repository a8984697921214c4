import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { coreRulesBytes, NO_RULE_MATERIAL } from "#rules/managed/rule-material.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";
import type { CoreRulesEntry, Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { createThreadRules } from "./thread-rules.ts";

const compiled = (word: string): SharedArrayBuffer => {
  const content = `SecRule ARGS "@contains ${word}" "id:942100,phase:2,pass,msg:'x',setvar:tx.inbound_anomaly_score_pl1=+5"\n`;
  return coreRulesBytes({ digest: word, version: word }, readProgram({ files: [{ name: "a.conf", content }], dataFile: () => null }));
};
const entry = (word: string): CoreRulesEntry => ({
  ...{ digest: word, version: word, format: 2 },
  program: zstdCompressSync(new Uint8Array(compiled(word))).toString("base64"),
});
const shared = (value: CoreRulesEntry | null): Op => ({ kind: "core_rules", id: "owasp", value });

test("the Core Rule Set of the snapshot replaces the thread's own, unless the process has control or it cannot be read", () => {
  const replica = createMemoryReplica([shared(entry("one"))]);
  const warned: string[] = [];
  const own = { ...NO_RULE_MATERIAL, coreRules: compiled("own") };
  const rules = createThreadRules({ replica, given: own, warn: (text) => void warned.push(text) });
  let told = 0;
  rules.onShared(() => void told++);
  assert.equal(rules.current(), own);
  rules.give({ ...own, followsControl: true });
  const { coreRules } = rules.current();
  assert.deepEqual([...new Uint8Array(coreRules!)], [...new Uint8Array(compiled("one"))]);
  assert.equal(rules.current().coreRules, coreRules, "it is read once");
  replica.apply([shared({ ...entry("two"), digest: "three" })]);
  assert.deepEqual([rules.current().coreRules === coreRules, warned.length, told], [true, 1, 1]);
  replica.apply([shared({ digest: "", version: "", format: 0, program: "" })]);
  assert.equal(rules.current().coreRules, null);
  replica.apply([shared(null)]);
  assert.equal(rules.current().coreRules, own.coreRules);
});
