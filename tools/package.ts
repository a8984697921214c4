import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { productionPackages } from "./production-packages.ts";
import { ROOT } from "./steps.ts";

/**
 * `npm run package [-- DIRECTORY]`: packages for users without npm, for this machine's processor. A tarball with
 * Node.js inside, which runs where it is unpacked, and the same as a Debian package. Both contain the files of `npm
 * pack` and the packages that it needs.
 */

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const PACK_MS_MAX = 600_000;
/** Files of packages that are not read at run time. */
const LEFT_OUT =
  /\.(?:md|markdown|map|[cm]?ts|tsx|flow|snap|test\.[cm]?js)$|\/(?:test|tests|testing|__(?:tests|snapshots|fixtures)__|docs|examples|benchmarks?|\.github)$|node-linux-\w+\/(?:include|share|lib)$/;
/** The README of libvips names the licenses of the libraries in it. */
const KEPT = /\/(?:licen[sc]e|notice|copying)|sharp-libvips-[\w-]+\/readme/i;

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };

const WRAPPER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/../lib/node_modules
exec "$here/node-linux-${process.arch}/bin/node" "$here/selvedge/bin/selvedge.js" "$@"
`;

/** Commands of the Debian package find the service's server; `--config` and `--data` still choose another. */
const DEBIAN_WRAPPER = `#!/bin/sh
config=/etc/selvedge/selvedge.toml
if [ -z "\${SELVEDGE_CONFIG+set}" ] && [ -r $config ]; then export SELVEDGE_CONFIG=$config; fi
exec /usr/lib/selvedge/bin/selvedge "$@"
`;

const target = resolve(process.argv[2] ?? join(ROOT, "dist-packages"));
mkdirSync(target, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "selvedge-package-"));
try {
  const name = `selvedge-${version}-linux-${process.arch}`;
  const tree = join(work, name);
  const packages = fillTree(tree);
  const tarball = join(target, `${name}.tar.gz`);
  run("tar", ["-C", work, "--owner=0", "--group=0", "--sort=name", "-czf", tarball, name]);
  const deb = debianPackage(tree);
  const size = (path: string): number => Math.round(statSync(path).size / 1e5) / 10;
  console.log(
    JSON.stringify({
      tarball,
      tarball_mb: size(tarball),
      deb,
      deb_mb: size(deb),
      unpacked_mb: Math.round(kilobytesOf(tree) / 1024),
      packages,
    }),
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Writes `bin/selvedge` beside `lib/node_modules`; returns the number of packages. */
function fillTree(tree: string): number {
  const modules = join(tree, "lib/node_modules");
  mkdirSync(modules, { recursive: true });
  const [packed] = Object.values(
    JSON.parse(run("npm", ["pack", "--json", "--pack-destination", work])) as Record<string, { filename: string }>,
  );
  const program = join(modules, "selvedge");
  mkdirSync(program);
  run("tar", ["-xzf", join(work, packed?.filename ?? ""), "-C", program, "--strip-components=1"]);
  const packages = productionPackages();
  for (const path of packages) {
    const from = join(ROOT, path);
    cpSync(from, join(tree, "lib", path), {
      recursive: true,
      // Packages within packages have their own lines in the lock file.
      filter: (source) => !source.slice(from.length).includes("/node_modules") && (KEPT.test(source) || !LEFT_OUT.test(source)),
    });
  }
  mkdirSync(join(tree, "bin"));
  writeFileSync(join(tree, "bin/selvedge"), WRAPPER, { mode: 0o755 });
  for (const file of ["LICENSE", "README.md"]) renameSync(join(program, file), join(tree, file));
  return packages.length;
}

/** The tree under /usr/lib, with unit and configuration. Gives its path. */
function debianPackage(tree: string): string {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`no Debian package is made for ${process.arch}`);
  const root = join(work, "deb");
  const at = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  cpSync(tree, at("usr/lib/selvedge"), { recursive: true });
  writeFileSync(at("usr/bin/selvedge"), DEBIAN_WRAPPER, { mode: 0o755 });
  cpSync(join(ROOT, "deploy/selvedge.service"), at("usr/lib/systemd/system/selvedge.service"));
  cpSync(join(ROOT, "deploy/selvedge.toml"), at("etc/selvedge/selvedge.toml"));
  cpSync(join(ROOT, "LICENSE"), at("usr/share/doc/selvedge/copyright"));
  for (const script of ["postinst", "prerm", "postrm"]) {
    cpSync(join(ROOT, "deploy/debian", script), at(`DEBIAN/${script}`));
    run("chmod", ["755", at(`DEBIAN/${script}`)]);
  }
  writeFileSync(at("DEBIAN/conffiles"), "/etc/selvedge/selvedge.toml\n");
  writeFileSync(at("DEBIAN/control"), controlOf(architecture, kilobytesOf(root)));
  run("chmod", ["-R", "u=rwX,go=rX", root]);
  const deb = join(target, `selvedge_${version}_${architecture}.deb`);
  run("dpkg-deb", ["--root-owner-group", "-Zzstd", "-z9", "--build", root, deb]);
  return deb;
}

function controlOf(architecture: string, kilobytes: number): string {
  return `${[
    "Package: selvedge",
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: The Selvedge authors <selvedge@localhost>",
    `Installed-Size: ${kilobytes}`,
    "Depends: libc6 (>= 2.28), libstdc++6, passwd",
    "Recommends: ca-certificates, systemd",
    "Section: net",
    "Priority: optional",
    "Description: edge platform on your own machine",
    " Management API, authoritative nameserver, HTTP edge and AI gateway in one process.",
  ].join("\n")}\n`;
}

function kilobytesOf(path: string): number {
  return Number(run("du", ["-sk", path]).split("\t")[0]);
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    cwd: ROOT,
    encoding: "utf8",
    timeout: PACK_MS_MAX,
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "inherit"],
  });
}
