import assert from "node:assert/strict";
import { test } from "node:test";
import { programOf } from "../testing/requests.ts";
import { rulesOf } from "./program.ts";
import { withFixedVariables } from "./with-fixed-variables.ts";

const left = (rules: string, level: string): readonly number[] =>
  rulesOf(withFixedVariables(programOf(rules), { level })).map(({ id }) => id);

const LEVELS = `
SecRule TX:LEVEL "@lt 1" "id:11,phase:2,pass,nolog,skipAfter:END"
SecRule ARGS "@rx a" "id:12,phase:2,pass"
SecRule TX:level "@lt 2" "id:13,phase:2,pass,nolog,skipAfter:END"
SecRule ARGS "@rx b" "id:14,phase:2,pass"
SecMarker END
SecRule ARGS "@rx c" "id:15,phase:2,pass"
`;

test("rules that only skip by a variable go, with what they skip", () => {
  assert.deepEqual(left(LEVELS, "0"), [15]);
  assert.deepEqual(left(LEVELS, "1"), [12, 15]);
  assert.deepEqual(left(LEVELS, "2"), [12, 14, 15]);
});

test("a default for where the variable is not there leaves it as it is", () => {
  assert.deepEqual(left(`SecRule &TX:level "@eq 0" "id:1,phase:1,pass,nolog,setvar:tx.level=4"\n${LEVELS}`, "1"), [1, 12, 15]);
});

test("nothing is decided by a variable that rules write", () => {
  const all = [1, 11, 12, 13, 14, 15];
  for (const write of [
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.level=4"`,
    `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,setvar:tx.Level=+1"`,
    `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,setvar:!tx.level"`,
    `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,setvar:tx.le%{matched_var}=1"`,
    `SecRule &TX:level "!@eq 0" "id:1,phase:1,pass,nolog,setvar:tx.level=4"`,
  ])
    assert.deepEqual(left(`${write}\n${LEVELS}`, "1"), all, write);
  assert.deepEqual(left(`SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,setvar:tx.other%{matched_var}=1"\n${LEVELS}`, "1"), [1, 12, 15]);
});

test("rules that do more than skip stay, and so does what others lead into", () => {
  const rest = `SecRule ARGS "@rx a" "id:2,phase:2,pass"\nSecMarker MIDDLE\nSecRule ARGS "@rx b" "id:3,phase:2,pass"\nSecMarker END`;
  for (const more of ["log,msg:x", "nolog,setvar:tx.seen=1", "nolog,ctl:ruleRemoveById=3", "nolog,chain"]) {
    const link = more.endsWith("chain") ? `\n  SecRule ARGS "@rx c"` : "";
    assert.deepEqual(left(`SecRule TX:level "@lt 9" "id:1,phase:2,pass,skipAfter:END,${more}"${link}\n${rest}`, "1"), [1, 2, 3], more);
  }
  const entered = `SecRule ARGS "@rx x" "id:9,phase:2,pass,nolog,skipAfter:MIDDLE"\nSecRule TX:level "@lt 9" "id:1,phase:2,pass,nolog,skipAfter:END"`;
  assert.deepEqual(left(`${entered}\n${rest}`, "1"), [9, 1, 2, 3]);
  const counted = `SecRule ARGS "@rx x" "id:9,phase:2,pass,nolog,skip:1"\nSecRule TX:level "@lt 9" "id:1,phase:2,pass,nolog,skipAfter:END"`;
  assert.deepEqual(left(`${counted}\n${rest}`, "1"), [9, 1, 2, 3]);
});

test("a variable that is not given and that no rule writes is known not to be there", () => {
  const skip = `SecRule &TX:plugin|TX:plugin "@eq 0" "id:2,phase:2,pass,nolog,skipAfter:END"\nSecRule ARGS "@rx a" "id:3,phase:2,pass"\nSecMarker END`;
  assert.deepEqual(left(skip, "1"), []);
  for (const write of [
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.Plugin=1"`,
    `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,setvar:tx.pl%{matched_var}=1"`,
    `SecRule &TX:plugin "@eq 0" "id:1,phase:1,pass,nolog,setvar:tx.plugin=0"`,
  ])
    assert.deepEqual(left(`${write}\n${skip}`, "1"), [1, 2, 3], write);
  assert.deepEqual(left(skip.replaceAll("TX:plugin", "TX:1"), "1"), [2, 3]);
  assert.deepEqual(left(skip.replaceAll("TX:plugin", "TX:level"), "1"), [3]);
  assert.deepEqual(left(skip.replaceAll("TX:plugin", "TX:level"), "0"), []);
  assert.deepEqual(left(skip.replaceAll("TX:plugin", "TX:/plugin/"), "1"), [2, 3]);
});
