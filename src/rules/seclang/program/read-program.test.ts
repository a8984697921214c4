import assert from "node:assert/strict";
import { test } from "node:test";
import { file, programOf } from "../testing/requests.ts";
import { rulesOf } from "./program.ts";
import { readProgram } from "./read-program.ts";

test("later directives remove rules, and change their targets and actions", () => {
  const program = programOf(`
SecRule ARGS "@rx a" "id:1,phase:2,tag:'attack-x',pass"
SecRule ARGS "@rx b" "id:2,phase:2,tag:'attack-y',msg:'About y',pass"
SecRule ARGS "@rx c" "id:3,phase:1,pass,chain"
  SecRule ARGS "@rx d" "t:lowercase"
SecRule ARGS "@rx e" "id:10,phase:2,pass"
SecRuleRemoveById 10-19
SecRuleRemoveByTag attack-x
SecRuleUpdateTargetById 3:1 "!ARGS:token"
SecRuleUpdateTargetByMsg "About y" "!ARGS:/^csrf/"
SecRuleUpdateActionById 2 "deny,status:429"
`);
  const rules = rulesOf(program);
  assert.deepEqual(
    rules.map(({ id }) => id),
    [3, 2],
  );
  assert.deepEqual(rules[0]?.links[1]?.excluded, [{ collection: "ARGS", isCount: false, selector: { kind: "name", name: "token" } }]);
  assert.deepEqual(rules[1]?.links[0]?.excluded[0]?.selector, { kind: "pattern", pattern: "^csrf" });
  assert.deepEqual([rules[1]?.disruption, rules[1]?.status], ["deny", 429]);
});

test("block takes the default action of its phase, and t:none removes the default transformations", () => {
  const program = programOf(`
SecDefaultAction "phase:2,log,deny,status:418,t:lowercase"
SecRule ARGS "@rx a" "id:1,phase:2,block"
SecRule ARGS "@rx a" "id:2,phase:request,block,nolog,t:none,t:urlDecode"
SecRule ARGS "@rx a" "id:3,phase:1,block"
`);
  assert.deepEqual(
    rulesOf(program).map(({ id, disruption, status, isLogged, links }) => [id, disruption, status, isLogged, links[0]?.transformations]),
    [
      [3, "block", 403, true, []],
      [1, "deny", 418, true, ["lowercase"]],
      [2, "deny", 418, false, ["urlDecode"]],
    ],
  );
});

test("directives without effect are listed, and the caller resolves Include", () => {
  const program = readProgram({
    files: [file('SecRequestBodyAccess On\nInclude other/*.conf\nSecComponentSignature "X/1"')],
    dataFile: () => null,
    include: (pattern, beside) => [file('SecAction "id:1,pass"', `${pattern} from ${beside}`)],
  });
  assert.deepEqual(
    program.notices.map(({ text, place }) => [text, place.line]),
    [["SecRequestBodyAccess has no effect here", 1]],
  );
  assert.equal(rulesOf(program)[0]?.place.file, "other/*.conf from rules.conf");
  assert.deepEqual(program.components, ["X/1"]);
  assert.deepEqual(structuredClone(program), program, "the program is plain data");
});
