/** Drafts of unsaved labels, kept by the browser so that a crash or a closed tab loses nothing. */
import { z } from 'zod';
import { isLabel, type LabelDocument } from './document.ts';

const stored = z.object({ at: z.iso.datetime(), version: z.string(), document: z.unknown() });
export type Draft = {
  at: string;
  /** Version of the saved template that the draft began with. */
  version: string;
  document: LabelDocument;
};

export class DraftPlace {
  readonly #key: string;

  constructor(tenant: string, template: string) {
    this.#key = `platen.draft.${tenant}.${template}`;
  }

  /** @returns undefined where there is no draft, or none that can be read */
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
      // Storage is full or refused (private window): then there is no draft.
    }
  }

  drop(): void {
    try {
      localStorage.removeItem(this.#key);
    } catch {
      // As above.
    }
  }
}
