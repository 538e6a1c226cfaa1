/** Saves the label at the service, and keeps a draft in the browser until it is saved. */
import { effect, type Signal, signal } from '@preact/signals';
import { z } from 'zod';
import { templateDraft, templateView } from '../../src/contract/admin.ts';
import { call, errorOf, Refusal } from '../service/call.ts';
import { ofTenant } from '../service/session.ts';
import { freeName } from '../templates/free-name.ts';
import { isLabel, type LabelDocument } from './document.ts';
import type { DraftPlace } from './draft.ts';
import type { Editor } from './editor.ts';

const versioned = templateView.extend({ version: z.string() });
const opened = versioned.extend({ template: z.unknown(), draft: templateDraft.optional() });
const kept = z.object({ version: z.string() });

export type Opened = {
  version: string;
  name: string;
  document: LabelDocument | undefined;
  /** What was opened is a draft: jobs print the document that was saved before it. */
  isDraft: boolean;
};

const pathOf = (id: string) => ofTenant(`/templates/${encodeURIComponent(id)}`);

/** @returns the template; its document is undefined if it is raw ZPL. @throws as `call` */
export async function open(id: string, signal?: AbortSignal): Promise<Opened> {
  const { version, name, template, draft } = await call(opened, pathOf(id), { signal });
  if (draft !== undefined && isLabel(draft.template))
    return { version, name, document: draft.template, isDraft: true };
  return { version, name, document: isLabel(template) ? template : undefined, isDraft: false };
}

/** ms without a change before the browser keeps a draft. */
const PAUSE = 400;

export class Saving {
  readonly busy = signal(false);
  readonly problem = signal<Error | undefined>(undefined);
  /** Whether somebody else has saved the template since it was opened here. */
  readonly conflict = signal(false);
  readonly saved: { readonly value: string };
  /** Whether what is saved is a draft, which does not print. */
  readonly isDraft: Signal<boolean>;
  readonly #saved = signal('');
  readonly #id: string;
  readonly #editor: Editor;
  readonly #drafts: DraftPlace;
  readonly #stop: () => void;
  #version: string;

  constructor(parts: {
    id: string;
    editor: Editor;
    drafts: DraftPlace;
    version: string;
    saved: LabelDocument;
    isDraft: boolean;
  }) {
    this.#id = parts.id;
    this.#editor = parts.editor;
    this.#drafts = parts.drafts;
    this.#version = parts.version;
    this.isDraft = signal(parts.isDraft);
    this.#saved.value = JSON.stringify(parts.saved);
    this.saved = this.#saved;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const { document } = this.#editor.history.value.now;
      const same = JSON.stringify(document) === this.#saved.value;
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (same) this.#drafts.drop();
        else this.#drafts.keep(this.#version, document);
      }, PAUSE);
    });
    this.#stop = () => {
      stop();
      clearTimeout(timer);
    };
  }

  /** Stops. The browser keeps unsaved changes as a draft. */
  end(): void {
    this.#stop();
    if (this.unsaved) this.#drafts.keep(this.#version, this.#editor.history.value.now.document);
    else this.#drafts.drop();
  }

  get unsaved(): boolean {
    return JSON.stringify(this.#editor.history.value.now.document) !== this.#saved.value;
  }

  /** Saves the label, as a draft if it would not print. @returns whether it is saved now */
  async save(): Promise<boolean> {
    if (this.busy.value) return false;
    this.busy.value = true;
    this.problem.value = undefined;
    const { document } = this.#editor.history.value.now;
    const body = { version: this.#version, template: document };
    try {
      try {
        const ends = { ...body, endsDraft: true };
        this.#version = (await call(versioned, pathOf(this.#id), { method: 'PUT', body: ends })).version;
        this.isDraft.value = false;
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'payload-invalid')) throw error;
        const path = `${pathOf(this.#id)}/draft`;
        this.#version = (await call(kept, path, { method: 'PUT', body })).version;
        this.isDraft.value = true;
      }
      this.#saved.value = JSON.stringify(document);
      return true;
    } catch (error) {
      this.conflict.value = error instanceof Refusal && error.code === 'template-changed';
      if (!this.conflict.value) this.problem.value = errorOf(error);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  /** Throws away the draft at the service: what jobs print is then what is saved. */
  async dropDraft(): Promise<void> {
    const path = pathOf(this.#id);
    const { version, template } = await call(opened, path);
    await call(versioned, path, { method: 'PUT', body: { version, template, endsDraft: true } });
    this.#saved.value = JSON.stringify(this.#editor.history.value.now.document);
    this.#drafts.drop();
  }

  /** Saves over what somebody else has saved meanwhile. */
  async overwrite(): Promise<void> {
    this.#version = (await open(this.#id)).version;
    this.conflict.value = false;
    await this.save();
  }

  /** @returns the ID of the copy */
  async saveCopy(): Promise<string> {
    const { document } = this.#editor.history.value.now;
    const body = { ...document, name: await freeName(document.name) };
    const { id } = await call(templateView, ofTenant('/templates'), { body });
    this.#drafts.drop();
    this.#saved.value = JSON.stringify(document);
    return id;
  }
}
