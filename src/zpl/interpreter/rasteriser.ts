/**
 * The rasteriser of ZPL is a Go program in WebAssembly. Neither Node's limits nor its garbage collector know how much memory
 * the program takes, and WebAssembly memory never shrinks. So the program has a limit of its own, and is started anew once it
 * is large. The package would start its program once and for good. So the package is kept from doing that, and this file starts
 * it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The program's most memory, pages of 64 KB: 384 MB. It begins with 32. A blood bag’s label at 600 dpi needs over 288. */
const MOST_PAGES = 6144;
/** If the program has more bytes than this after a label, it is started anew. Most labels of 4 × 6 inches leave it at 50 MB. */
const LARGE = 128 * 1024 * 1024;
/** The program's own garbage collector works harder before it takes more memory. */
const FRUGAL = { GOGC: '50', GOMEMLIMIT: '160MiB' };

type Package = typeof import('zpl-renderer-js');
type Api = Awaited<Package['ready']>['api'];

// Node's types lack WebAssembly, and the package's types lack its runtime.
interface Instance {
  readonly exports: { readonly mem: { readonly buffer: ArrayBuffer } };
}
interface Wasm {
  compile(source: unknown): Promise<object>;
  instantiate(module: unknown, imports?: object): Promise<Instance>;
}
interface Runtime {
  env: Readonly<Record<string, string>>;
  readonly importObject: object;
  readonly exited: boolean;
  run(instance: Instance): Promise<void>;
  _resume(): void;
  readonly _scheduledTimeouts: Map<number, NodeJS.Timeout>;
}
const wasm: Wasm = Reflect.get(globalThis, 'WebAssembly');

interface Program {
  readonly api: Api;
  readonly instance: Instance;
  /** Resolves when the program has ended by itself, which it does when it gets no more memory. */
  readonly ended: Promise<void>;
  /** Leaves the program: its timers no longer wake it. */
  leave(): void;
  readonly left: boolean;
  /** How many calls are under way. */
  drawing: number;
}

let compiled: Promise<object> | undefined;
let running: Promise<Program> | undefined;
/** Whether a program was left, and its memory is still there. */
let isGarbage = false;

/** Thrown for a label that needs more memory than the rasteriser may take. */
export class RasteriserFull extends Error {
  constructor() {
    super('it takes too much memory');
    this.name = 'RasteriserFull';
  }
}

/** Loads the rasteriser. On a busy machine that takes seconds. */
export async function loadRasteriser(): Promise<void> {
  running ??= start();
  await running;
}

/**
 * Draws labels. The first call loads the rasteriser.
 * @param width mm, as is the height
 * @returns PNGs, base64
 * @throws RasteriserFull; Error: it does not understand the ZPL
 */
export async function rasterise(
  zpl: string,
  width: number,
  height: number,
  dotsPerMm: number,
): Promise<string[]> {
  try {
    return await draw(zpl, width, height, dotsPerMm);
  } finally {
    if (isGarbage) {
      isGarbage = false;
      // This waits until the call that used the program has ended too, because its frame would keep the memory.
      await nextTurn();
      collectGarbage();
    }
  }
}

async function draw(...label: Parameters<Api['zplToBase64MultipleAsync']>): Promise<string[]> {
  running ??= start();
  const starting = running;
  const program = await starting;
  const full = program.ended.then(() => {
    throw new RasteriserFull();
  });
  program.drawing += 1;
  try {
    return await Promise.race([full, program.api.zplToBase64MultipleAsync(...label)]);
  } catch (error) {
    // When the program ends, its last call may fail with any error, and the end may become known only after that.
    await Promise.race([full, nextTurn()]);
    throw error;
  } finally {
    program.drawing -= 1;
    const large = program.instance.exports.mem.buffer.byteLength > LARGE && program.drawing === 0;
    if ((program.left || large) && running === starting) {
      running = undefined;
      program.leave();
      isGarbage = true;
    }
  }
}

async function start(): Promise<Program> {
  compiled ??= compile();
  const module = await compiled;
  const Go: new () => Runtime = Reflect.get(globalThis, 'Go');
  const go = new Go();
  go.env = FRUGAL;
  const instance = await wasm.instantiate(module, go.importObject);
  let left = false;
  const leave = () => {
    left = true;
    for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
    go._scheduledTimeouts.clear();
  };
  const resume = go._resume.bind(go);
  go._resume = () => {
    // For a timer that the program does not know, this is called again and again; after its end, that would throw uncaught.
    if (left || go.exited) leave();
    else resume();
  };
  const ended = go.run(instance).finally(leave);
  const api: Api = Reflect.get(globalThis, 'zpl');
  // Its functions would keep the memory of the program after it was left.
  Reflect.deleteProperty(globalThis, 'zpl');
  return {
    api,
    instance,
    ended,
    leave,
    get left() {
      return left;
    },
    drawing: 0,
  };
}

/** Compiles the package's program, and keeps the package from starting it. */
async function compile(): Promise<object> {
  // This takes effect in all threads, for memory that grows from now on.
  setFlagsFromString(`--wasm-max-mem-pages=${MOST_PAGES}`);
  const { instantiate } = wasm;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  wasm.instantiate = (source, imports) => {
    if (imports === undefined || !('gojs' in imports)) return instantiate(source, imports);
    resolve(source);
    return Promise.reject(new Error('The program is started elsewhere.'));
  };
  try {
    const { ready } = await import('zpl-renderer-js');
    ready.catch(() => undefined);
    return await wasm.compile(await promise);
  } finally {
    wasm.instantiate = instantiate;
  }
}

/** Frees the memory of a program that was left. Otherwise it would stay as long as its thread has nothing to do. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect();
}
