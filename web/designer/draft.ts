/** Drafts of unsaved labels. The browser keeps them, so that a crash or a closed tab loses nothing. */
import { z } from 'zod';
import { isLabel, type LabelDocument } from './document.ts';

const stored = z.object({ at: z.iso.datetime(), version: z.string(), document: z.unknown() });
export type Draft = {
  at: string;
  /** The version of the saved template with which the draft began. */
  version: string;
  document: LabelDocument;
};

export class DraftPlace {
  readonly #key: string;

  constructor(tenant: string, template: string) {
    this.#key = `platen.draft.${tenant}.${template}`;
  }

  /** @returns undefined if there is no draft, or it cannot be read */
  get(): Draft | undefined {
    try {
      const { at, version, document } = stored.parse(JSON.parse(localStorage.getItem(this.#key) ?? 'null'));
      return isLabel(document) ? { at, version, document } : undefined;
    } catch {
      return undefined;
    }
  }

  keep(version: string, document: LabelDocument): void {
    const draft: Draft = { at: new Date().toISOString(), version, document };
    try {
      localStorage.setItem(this.#key, JSON.stringify(draft));
    } catch {
      // Storage is full, or refused as in a private window. Then there is no draft.
    }
  }

  drop(): void {
    try {
      localStorage.removeItem(this.#key);
    } catch {
      // Storage is refused, as in a private window.
    }
  }
}
