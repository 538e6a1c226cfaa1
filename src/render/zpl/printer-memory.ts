/**
 * What a ZPL printer remembers from one format to the next: settings that stay until they are changed, and objects
 * stored by name. DRAM (`R:`) is lost when the power goes, flash (`E:`, `B:`, `A:`) is not.
 *
 * Source: ZPL II Programming Guide, ^DF ^XF ^ID ^EF ~DG ~EG, and the persistence notes of each setting command.
 */
import type { ZplCommand } from './zpl-stream.ts';

/** Settings that stay in force after the format that made them; values are the command's parameters. */
const LASTING = ['CI', 'CF', 'BY', 'FW', 'LH', 'LR', 'LL', 'LS', 'LT', 'MU', 'PM', 'PO', 'PW'] as const;
export type LastingSetting = (typeof LASTING)[number];
const lasting = new Set<string>(LASTING);

export function isLastingSetting(name: string): name is LastingSetting {
  return lasting.has(name);
}

export type StoredObject =
  | { kind: 'format'; commands: readonly ZplCommand[]; bytes: number }
  | { kind: 'graphic'; definition: string; bytes: number };

/** `d:o.x` in upper case, with the printer's defaults for what is left out. */
export function objectName(text: string, extension: string): string {
  const match = /^(?:([A-Z]):)?([^.:]*)(?:\.(.*))?$/.exec(text.trim().toUpperCase());
  return `${match?.[1] ?? 'R'}:${match?.[2] || 'UNKNOWN'}.${match?.[3] || extension}`;
}

export class PrinterMemory {
  readonly #limit: number;
  readonly settings = new Map<LastingSetting, string>();
  readonly #objects = new Map<string, StoredObject>();

  /** `limit`: the most bytes that all stored objects may have together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get graphics(): number {
    return [...this.#objects.values()].filter((object) => object.kind === 'graphic').length;
  }

  object(name: string): StoredObject | undefined {
    return this.#objects.get(name);
  }

  /** False when there is no room left; then nothing changes. */
  store(name: string, object: StoredObject): boolean {
    let used = object.bytes;
    for (const [other, stored] of this.#objects) if (other !== name) used += stored.bytes;
    if (used > this.#limit) return false;
    this.#objects.set(name, object);
    return true;
  }

  /** `^ID`: the name may have `*` for any text in its name and its extension. */
  delete(pattern: string): void {
    const literal = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
    const matcher = new RegExp(`^${literal}$`);
    for (const name of this.#objects.keys()) if (matcher.test(name)) this.#objects.delete(name);
  }

  deleteKind(kind: StoredObject['kind']): void {
    for (const [name, object] of this.#objects) if (object.kind === kind) this.#objects.delete(name);
  }

  /** Power off: settings fall back to their defaults, DRAM is empty. */
  powerLoss(): void {
    this.settings.clear();
    for (const name of this.#objects.keys()) if (name.startsWith('R:')) this.#objects.delete(name);
  }
}
