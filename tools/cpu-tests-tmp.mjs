import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, globSync } from "node:fs";
import { sharePostgres } from "/work/wt/tests-fast/test/support/postgres.ts";
import { stepEnvironment } from "/work/wt/tests-fast/tools/steps.ts";
const pg = sharePostgres();
let files = globSync("test/**/*.test.ts"); let s=7; const rnd=()=> (s=(s*1103515245+12345)&0x7fffffff)/0x7fffffff;
files = files.map(f=>[rnd(),f]).sort((a,b)=>a[0]-b[0]).map(x=>x[1]);
for (const f of files) {
  const t=performance.now();
  const r = spawnSync("/usr/bin/time", ["-f","%U %S","-o","/tmp/cpu1","node","--test","--test-timeout=600000",f], {env:stepEnvironment(), stdio:["ignore","pipe","pipe"], encoding:"utf8"});
  const fails = /ℹ fail (\d+)/.exec(r.stdout)?.[1], n=/ℹ tests (\d+)/.exec(r.stdout)?.[1];
  const { readFileSync } = await import("node:fs");
  const [u,sy]=readFileSync("/tmp/cpu1","utf8").trim().split("\n").at(-1).split(" ").map(Number);
  appendFileSync("/tmp/cpu-tests.txt", `${(u+sy).toFixed(1)} ${u} ${sy} ${((performance.now()-t)/1000).toFixed(0)} ${n} ${fails} ${f}\n`);
}
await pg.stop();
