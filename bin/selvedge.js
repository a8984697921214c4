#!/usr/bin/env node
// No syntax or import here that an old Node cannot read: it has to get as far as saying which one is needed.
// Until the server listens for signals itself (src/app/threads/signals.ts). Node.js would open a debugger for SIGUSR1, and the others would end it.
if (process.argv[2] === "start") {
  ["SIGHUP", "SIGUSR1", "SIGUSR2"].forEach(function (signal) {
    process.on(signal, function () {});
  });
}

var needed = "24.15";
var have = process.versions.node.split(".");

if (Number(have[0]) < 24 || (Number(have[0]) === 24 && Number(have[1]) < 15)) {
  console.error("selvedge needs Node.js " + needed + " or newer; this is " + process.versions.node + " (" + process.execPath + ").");
  console.error("`npm start`, `npx selvedge` and an installed `selvedge` run the Node.js that npm has put into node_modules.");
  process.exitCode = 1;
} else {
  import("./run.js")
    .then(function (run) {
      return run.run(process.argv.slice(2));
    })
    .catch(function (error) {
      console.error(error);
      process.exitCode = 1;
    });
}
