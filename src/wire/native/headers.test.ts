import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { DLFCN } from "./koffi.ts";
import { EPOLL_EVENTS, LINUX, ofPlatform, STRUCTS, SYSTEM_CALLS } from "./linux.ts";
import { BUF_MEM_ST, OPENSSL } from "./openssl.ts";
import { UV_READABLE } from "./wake-up.ts";

const SRC = join(import.meta.dirname, "../..");
/** The headers that this Node.js was built with, including those of OpenSSL and libuv. */
const NODE_HEADERS = join(process.execPath, "../../include/node");
const skip = toolOrSkip("gcc") || toolOrSkip("libc6-dev");

const INCLUDES = `
#define _GNU_SOURCE
${["dlfcn.h", "errno.h", "malloc.h", "netinet/in.h", "netinet/tcp.h", "netinet/udp.h", "sched.h", "string.h", "stddef.h", "sys/epoll.h"].map(include).join("")}
${["sys/mman.h", "sys/socket.h", "sys/syscall.h", "sys/uio.h", "unistd.h", "openssl/ssl.h", "openssl/buffer.h", "openssl/err.h", "node_api.h", "uv.h"].map(include).join("")}
#ifndef SCHED_ATTR_SIZE_VER0
#define sched_param kernel_sched_param
#include <linux/sched/types.h>
#undef sched_param
#endif
`;

function include(header: string): string {
  return `#include <${header}>\n`;
}

/** The errors of gcc, a line each. */
function compile(code: string, flags: readonly string[] = []): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-headers-"));
  try {
    const file = join(directory, "check.c");
    writeFileSync(file, INCLUDES + code);
    const { stderr } = spawnSync("gcc", ["-fsyntax-only", "-I", NODE_HEADERS, ...flags, file], { encoding: "utf8", timeout: 60_000 });
    return stderr.split("\n").filter((line) => line.includes("error:"));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const claim = (condition: string, text: string): string => `_Static_assert(${condition}, ${JSON.stringify(text)});\n`;

const constants = (values: Readonly<Record<string, number>>): readonly string[] =>
  // EPOLLET is unsigned there and negative here.
  Object.entries(values).map(([name, value]) => claim(`(long long)(${name}) == ${value}LL || (int)(${name}) == ${value}`, name));

const struct = (name: string, members: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(members).map(([member, value]) =>
    claim(
      member === "bytes" ? `sizeof(struct ${name}) == ${value}` : `offsetof(struct ${name}, ${member}) == ${value}`,
      `${name}.${member}`,
    ),
  );

/** Of all sources: what koffi is given, such as `int close(int fd)`. */
function declarations(): readonly string[] {
  return sources().flatMap((text) => [...text.matchAll(/\.func\(\s*"([^"]+\))"/g)].map(([, declaration = ""]) => declaration));
}

const sources = (): readonly string[] =>
  globSync("**/*.ts", { cwd: SRC, exclude: ["**/*.test.ts"] }).map((file) => readFileSync(join(SRC, file), "utf8"));

interface Signature {
  readonly returns: string;
  readonly parameters: readonly string[];
}

/** The types without the parameters' names, which only our declarations have; a function as a parameter has brackets inside. */
function parse(declaration: string): readonly [name: string, Signature] {
  const [, returns = "", stars = "", name = "", list = ""] = /^(.*?)\s*(\**)(\w+) ?\((.*)\)$/.exec(declaration) ?? assert.fail(declaration);
  const parameters = list === "" || list === "void" ? [] : list.split(/,\s*(?![^(]*\))/);
  return [
    name,
    {
      returns: `${returns} ${stars}`.trim(),
      parameters: parameters.map((type) => type.replace(/__(CONST_)?SOCKADDR_ARG/, "struct sockaddr *")),
    },
  ];
}

function parseOurs(declaration: string): readonly [name: string, Signature] {
  const [name, { returns, parameters }] = parse(declaration);
  return [name, { returns, parameters: parameters.map((parameter) => parameter.replace(/^_Out_ /, "").replace(/\w+$/, "")) }];
}

/** Our declaration may return less where the value is always small: a register has it in its lower half. */
const NARROWED = new Map([["send", "sends at most what fits a buffer"]]);

function comparison(name: string, ours: Signature, theirs: Signature | undefined): readonly string[] {
  if (theirs === undefined) return [claim("0", `${name}: the headers do not declare it`)];
  const isVariadic = theirs.parameters.at(-1) === "...";
  const fixed = isVariadic ? theirs.parameters.slice(0, -1) : theirs.parameters;
  const counts = isVariadic ? ours.parameters.length >= fixed.length : ours.parameters.length === fixed.length;
  const types = fixed.map((type, i) => claim(same(ours.parameters[i] ?? "char", type), `${name}: parameter ${i + 1} is ${type}`));
  const returns =
    ours.returns === "void" || NARROWED.has(name) ? [] : [claim(same(ours.returns, theirs.returns), `${name}: returns ${theirs.returns}`)];
  return [claim(counts ? "1" : "0", `${name}: has ${fixed.length} parameters`), ...types, ...returns];
}

/** A pointer of theirs may be an address of ours; all others are integers of one size. */
const same = (ours: string, theirs: string): string =>
  `sizeof(${ours}) == sizeof(${theirs}) && __builtin_classify_type(*(${ours} *)0) != 8 && (__builtin_classify_type(*(typeof(${theirs}) *)0) != 8)`;

test("each constant and each offset equals the one in the C headers", { skip }, () => {
  const rows = [
    ...constants({ ...LINUX, ...DLFCN, ...OPENSSL, ...ofPlatform(SYSTEM_CALLS), UV_READABLE }),
    ...Object.entries(STRUCTS).flatMap(([name, members]) => struct(name, members)),
    ...struct("epoll_event", ofPlatform(EPOLL_EVENTS)!),
    ...struct("buf_mem_st", BUF_MEM_ST),
  ];
  assert.deepEqual(compile(rows.join("")), []);
});

test("each function that koffi calls is declared as in the C headers", { skip }, () => {
  const file = join(mkdtempSync(join(tmpdir(), "selvedge-prototypes-")), "prototypes");
  assert.deepEqual(compile("", ["-aux-info", file]), []);
  const known = new Map(
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => [...line.matchAll(/^\/\*.*\*\/ extern (.*);$/g)].map(([, declaration = ""]) => declaration))
      // A function that returns a function has another form, and is not ours.
      .filter((declaration) => /^[\w\s*]+\(.*\)$/.test(declaration))
      .map(parse),
  );
  rmSync(join(file, ".."), { recursive: true });
  const ours = [...new Set(declarations())].map(parseOurs);
  assert.ok(ours.length > 60, `${ours.length} declarations`);
  const rows = ours.flatMap(([name, signature]) => comparison(name, signature, known.get(name)));
  assert.deepEqual(compile(rows.join("")), []);
});

test("koffi callbacks, and the one function with such a parameter, match the C headers", { skip }, () => {
  const alpn = "int (*)(SSL *, const unsigned char **, unsigned char *, const unsigned char *, unsigned int, void *)";
  const rows = [
    claim(`__builtin_types_compatible_p(SSL_CTX_alpn_select_cb_func, ${alpn})`, "alpnCallback of openssl.ts"),
    claim("__builtin_types_compatible_p(uv_walk_cb, void (*)(uv_handle_t *, void *))", "visit of wake-up.ts"),
    claim("__builtin_types_compatible_p(typeof(uv_walk), void (uv_loop_t *, uv_walk_cb, void *))", "walk of wake-up.ts"),
  ];
  assert.deepEqual(compile(rows.join("")), []);
  const all = sources().join("\n");
  assert.equal(all.match(/\.func\(/g)!.length, declarations().length + 1, "only uv_walk is not a declaration in one text");
  assert.equal(all.match(/koffi\.proto\(/g)!.length, 2);
  assert.equal(all.match(/import\("koffi"\);/g)!.length, 1, "koffi.ts alone loads it");
});
