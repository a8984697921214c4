import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { isMainThread, threadId, threadName } from "node:worker_threads";
import { readTexts, stampOf, stripped } from "./strip-types.js";

/**
 * Loaded first in each thread: lets Node.js load the program's modules from one file that an earlier start has left, their
 * types stripped and their addresses found. Stripping takes seconds, and looking for two thousand files a third of a start.
 * Node.js's own compile cache keeps all that it has read until the thread ends: 26 MB in all (docs/adr/0042).
 *
 * One file for each kind of thread: [what it holds for, addresses by importer and specifier, modules by address].
 */
const QUIET_MS = 1_000;
const root = dirname(import.meta.dirname);

/** A directory that others could write would let them run code as us; undefined where there is none of ours. */
function ownDirectory() {
  const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "selvedge", "program");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    return uid === process.getuid() && (mode & 0o022) === 0 ? directory : undefined;
  } catch {
    // Without a home that can be written, every start strips.
    return undefined;
  }
}

/** Installing packages may change where a name leads, though no file that was read has changed. */
const holdsFor = () =>
  [process.version, root, ...["package.json", "node_modules/.package-lock.json"].map((file) => stampOf(join(root, file)))].join("\n");

function createStore(file, texts) {
  const holds = holdsFor();
  /** What the file says; undefined between times. Its texts would be there twice. */
  let kept;
  /** What this thread has found out besides. */
  const found = { addresses: new Map(), modules: new Map() };
  /** By address, as this thread has seen them: each is asked for several times. */
  const stamps = new Map();

  const read = () => {
    try {
      const [heldFor, addresses, modules] = deserialize(readFileSync(file));
      if (heldFor === holds) return { addresses, modules };
    } catch {
      // The first start of a version, or a file that is broken: it is written anew.
    }
    return { addresses: new Map(), modules: new Map() };
  };

  const write = () => {
    if (found.modules.size + found.addresses.size === 0) return;
    const old = read();
    const modules = new Map([...old.modules, ...found.modules].filter(([url, { stamp }]) => stampOf(pathOf(url)) === stamp));
    const addresses = new Map([...old.addresses, ...found.addresses].filter(([, url]) => modules.has(url)));
    found.modules.clear();
    found.addresses.clear();
    const whole = `${file}.${process.pid}-${threadId}`;
    try {
      writeFileSync(whole, serialize([holds, addresses, modules]), { mode: 0o600 });
      renameSync(whole, file);
    } catch {
      // A disk that is full costs the next start its time, not this one its life.
    }
  };

  const quiet = setTimeout(() => {
    kept = undefined;
    texts.forget();
    stamps.clear();
    write();
  }, QUIET_MS).unref();
  process.once("exit", write);

  const look = (part, key) => {
    quiet.refresh();
    return found[part].get(key) ?? (kept ??= read())[part].get(key);
  };
  return {
    address: (key) => look("addresses", key),
    module: (url) => look("modules", url),
    stamp: (url) => {
      const stamp = stamps.get(url) ?? stampOf(pathOf(url));
      stamps.set(url, stamp);
      return stamp;
    },
    keepAddress: (key, url) => found.addresses.set(key, url),
    keepModule: (url, module) => found.modules.set(url, module),
  };
}

/** Addresses with a query are others'; the rest of ours need no decoding, or are left to Node.js. */
const isPlain = (url) => url.startsWith("file:///") && !/[?#%]/.test(url);
const pathOf = (url) => url.slice("file://".length);

const stripper = join(import.meta.dirname, "strip-types.js");
const sources = join(root, "src");
const STRIP_MS_MAX = 60_000;

/**
 * Texts that a process of its own has stripped of their types, once for all threads: what the compiler takes stays with whoever has used
 * it until the thread ends, 27 MB of a first start.
 */
function createTexts(file) {
  let texts;
  let isStripped = !isMainThread;
  const look = (url, stamp) => {
    const text = (texts ??= readTexts(file)).get(url);
    return text !== undefined && text.stamp === stamp ? text.source : undefined;
  };
  return {
    of: (url, stamp) => {
      if (!pathOf(url).startsWith(sources)) return undefined;
      const found = look(url, stamp);
      if (found !== undefined || isStripped) return found;
      isStripped = true;
      // Where it cannot be run, this thread does it by itself.
      spawnSync(process.execPath, [stripper, sources, file], { stdio: "ignore", timeout: STRIP_MS_MAX });
      texts = undefined;
      return look(url, stamp);
    },
    forget: () => (texts = undefined),
  };
}

function useStore(store, texts) {
  const keptModule = (url) => {
    const module = store.module(url);
    return module !== undefined && module.stamp === store.stamp(url) ? module : undefined;
  };
  registerHooks({
    resolve: (specifier, context, next) => {
      const { parentURL, conditions, importAttributes } = context;
      if (
        parentURL === undefined ||
        specifier.startsWith("node:") ||
        conditions.includes("require") ||
        Object.keys(importAttributes).length > 0
      )
        return next(specifier, context);
      const key = `${parentURL}\n${specifier}`;
      const url = store.address(key);
      if (url !== undefined && keptModule(url) !== undefined) return { url, format: "module", shortCircuit: true };
      const resolved = next(specifier, context);
      if (isPlain(resolved.url) && (resolved.format === "module" || resolved.url.endsWith(".ts"))) store.keepAddress(key, resolved.url);
      return resolved;
    },
    load: (url, context, next) => {
      if (!isPlain(url)) return next(url, context);
      const module = keptModule(url);
      if (module !== undefined) return { format: "module", source: module.source, shortCircuit: true };
      const isTypeScript = url.endsWith(".ts");
      // Before it is read: what changes in between is read again by the next start.
      const stamp = store.stamp(url);
      const loaded = isTypeScript
        ? { format: "module", source: texts.of(url, stamp) ?? stripped(readFileSync(pathOf(url), "utf8")), shortCircuit: true }
        : next(url, context);
      if (loaded.format === "module" && stamp !== undefined)
        store.keepModule(url, { stamp, source: isTypeScript ? loaded.source : Buffer.from(loaded.source).toString("utf8") });
      return loaded;
    },
  });
}

const directory = ownDirectory();
if (directory !== undefined) {
  const kind = isMainThread ? "main" : threadName.replace(/-\d+$/, "");
  const file = join(directory, root.replaceAll(/[^\w.-]/g, "-").slice(-150));
  const texts = createTexts(`${file}-texts`);
  useStore(createStore(`${file}-${kind}`, texts), texts);
}
