/** The page of the designer: opens a template, shows the drawing area and the panels, and saves. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go, to } from '../address/place.ts';
import { Dialog } from '../controls/dialog.tsx';
import { Empty, Page } from '../controls/page.tsx';
import { Problem } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { errorOf } from '../service/call.ts';
import { may, session } from '../service/session.ts';
import { usePreview } from '../templates/preview.ts';
import { SamplePicture } from '../templates/template-picture.tsx';
import { t, when } from '../texts/texts.ts';
import { Canvas } from './canvas.tsx';
import type { LabelDocument } from './document.ts';
import { type Draft, DraftPlace } from './draft.ts';
import { Editor } from './editor.ts';
import { copyChosen, pasteInto, pressAnywhere, pressOnLabel } from './keys.ts';
import { type Opened, open, Saving } from './saving.ts';
import { Side } from './side.tsx';
import { Toolbar } from './toolbar.tsx';
import { ViewBar } from './view-bar.tsx';

/** The greatest width, in pixels, of a picture that people only look at. */
const SHOWN = 800;

export function Designer({ id }: { id: string }) {
  const { designer: words, general } = t.value;
  const found = useSignal<Opened | undefined>(undefined);
  const problem = useSignal<Error | undefined>(undefined);
  const turn = useSignal(0);
  const again = turn.value;
  useEffect(() => {
    const stop = new AbortController();
    found.value = undefined;
    problem.value = undefined;
    open(id, stop.signal).then(
      (answer) => {
        found.value = answer;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) problem.value = errorOf(error);
      },
    );
    return () => stop.abort();
  }, [id, again]);
  const reload = () => {
    turn.value += 1;
  };
  if (found.value === undefined) {
    return (
      <Page title={t.value.templates.title}>
        {problem.value !== undefined ? (
          <Problem problem={problem.value} onRetry={reload} />
        ) : (
          <p class="waiting" role="status">
            {general.loading}
          </p>
        )}
      </Page>
    );
  }
  const { version, name, document, isDraft } = found.value;
  if (document === undefined) {
    return (
      <Page title={name} crumb={{ words: t.value.templates.title, href: to(['templates']) }}>
        <Empty icon="templates" title={words.notDrawnTitle} hint={words.notDrawn}>
          <a class="button" href={to(['templates', id])}>
            {words.toTemplate}
          </a>
        </Empty>
      </Page>
    );
  }
  return (
    <Opening key={version} id={id} version={version} saved={document} isDraft={isDraft} onReload={reload} />
  );
}

type OpeningProps = {
  id: string;
  version: string;
  saved: LabelDocument;
  isDraft: boolean;
  onReload: () => void;
};

/** Before the designer opens, offers the unsaved draft of an earlier visit if the browser kept one. */
function Opening(props: OpeningProps) {
  const { designer: words } = t.value;
  const drafts = useMemo(() => new DraftPlace(session.value?.tenant.id ?? '', props.id), [props.id]);
  const draft = useSignal<Draft | undefined>(useMemo(() => drafts.get(), [drafts]));
  const from = useSignal<LabelDocument>(props.saved);
  if (draft.value === undefined || JSON.stringify(draft.value.document) === JSON.stringify(props.saved)) {
    return <Desk {...props} drafts={drafts} from={from.value} />;
  }
  const { at, version, document } = draft.value;
  const close = (begin: LabelDocument) => {
    from.value = begin;
    draft.value = undefined;
  };
  return (
    <Page
      title={words.title(props.saved.name)}
      crumb={{ words: props.saved.name, href: to(['templates', props.id]) }}
    >
      <div class="note warn" role="alert">
        <span>{words.draft(when(at))}</span>
        {version !== props.version && <span>{words.draftOld}</span>}
        <div class="row">
          <button type="button" class="button primary" onClick={() => close(document)}>
            {words.takeDraft}
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              drafts.drop();
              close(props.saved);
            }}
          >
            {words.dropDraft}
          </button>
        </div>
      </div>
      <div class="side-by-side">
        <OneVersion label={document} says={words.unsaved} />
        <OneVersion label={props.saved} says={words.asSaved} />
      </div>
    </Page>
  );
}

/** A picture of a label with the samples of its fields. */
function OneVersion({ label, says }: { label: LabelDocument; says: string }) {
  const request = useMemo(() => ({ template: label, width: SHOWN }), [label]);
  const { preview, problem } = usePreview(request);
  return (
    <figure>
      <div class="stage" style={{ aspectRatio: label.width / label.height }}>
        <SamplePicture found={problem ?? preview?.png} name={says} />
      </div>
      <figcaption>{says}</figcaption>
    </figure>
  );
}

type DeskProps = OpeningProps & { drafts: DraftPlace; from: LabelDocument };

function Desk({ id, version, saved, isDraft, drafts, from, onReload }: DeskProps) {
  const { designer: words } = t.value;
  const [editor, saving] = useMemo(() => {
    const made = new Editor(from);
    return [made, new Saving({ id, editor: made, drafts, version, saved, isDraft })] as const;
  }, [id, version, saved, isDraft, drafts, from]);
  const stage = useRef<HTMLDivElement>(null);
  // It is computed, so that this component does not render anew with every step of a drag.
  const name = useComputed(() => editor.scene.value.document.name);
  const fitLabel = () => {
    const { current } = stage;
    if (current === null) return;
    const { width, height } = editor.scene.peek().document;
    const [across, down] = editor.orientation.peek() === 'landscape' ? [height, width] : [width, height];
    const room = { width: current.clientWidth - 64, height: current.clientHeight - 64 };
    editor.zoom.value = Math.max(0.5, Math.min(room.width / across, room.height / down, 20));
  };
  const save = async () => {
    if (!may('templates:edit')) return;
    if (await saving.save()) say(saving.isDraft.value ? words.savedDraft : words.saved, saving.isDraft.value);
  };
  useEffect(() => {
    fitLabel();
    const press = (event: KeyboardEvent) => {
      if (pressAnywhere(event, editor, () => void save())) event.preventDefault();
    };
    const leave = (event: BeforeUnloadEvent) => {
      if (saving.unsaved) event.preventDefault();
    };
    addEventListener('keydown', press);
    addEventListener('beforeunload', leave);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('beforeunload', leave);
      saving.end();
      editor.end();
    };
  }, [editor, saving]);
  useEffect(() => {
    const isTyping = (target: EventTarget | null) =>
      target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
    const copy = (event: ClipboardEvent) => {
      if (!isTyping(event.target)) copyChosen(event, editor);
    };
    const paste = (event: ClipboardEvent) => {
      if (!isTyping(event.target)) pasteInto(event, editor);
    };
    globalThis.document.addEventListener('copy', copy);
    globalThis.document.addEventListener('cut', copy);
    globalThis.document.addEventListener('paste', paste);
    return () => {
      globalThis.document.removeEventListener('copy', copy);
      globalThis.document.removeEventListener('cut', copy);
      globalThis.document.removeEventListener('paste', paste);
    };
  }, [editor]);
  const unsaved = useComputed(() => saving.unsaved).value;
  return (
    <Page
      title={name.value}
      crumb={{ words: t.value.templates.title, href: to(['templates', id]) }}
      beside={
        <span class={unsaved || saving.isDraft.value ? 'badge warn' : 'badge good'}>
          {unsaved ? words.unsaved : saving.isDraft.value ? words.isDraft : words.allSaved}
        </span>
      }
      actions={
        <>
          {may('jobs:act') && !unsaved && !saving.isDraft.value && (
            <a class="button" href={to(['print'], { template: id })}>
              {words.print}
            </a>
          )}
          <button
            type="button"
            class="button primary"
            disabled={!unsaved || saving.busy.value || !may('templates:edit')}
            onClick={() => void save()}
          >
            {words.save}
          </button>
        </>
      }
    >
      <div class="designer">
        {saving.problem.value !== undefined && <Problem problem={saving.problem.value} />}
        {saving.isDraft.value && (
          <div class="note warn row spread">
            <span>{words.draftSays}</span>
            {may('templates:edit') && (
              <button
                type="button"
                class="button"
                onClick={() => {
                  saving.dropDraft().then(onReload, (error: unknown) => {
                    saving.problem.value = errorOf(error);
                  });
                }}
              >
                {words.dropDraft}
              </button>
            )}
          </div>
        )}
        <Toolbar editor={editor} />
        <div class="desk">
          <section class="stage-column" aria-label={words.canvas}>
            {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys act on the elements within */}
            <div
              ref={stage}
              class="stage-scroll"
              // Where the label is larger than its room, arrow keys scroll it.
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
              tabIndex={0}
              onKeyDown={(event) => {
                // In the field on the label, keys are text and no commands.
                if (event.target instanceof HTMLTextAreaElement) return;
                if (pressOnLabel(event, editor, fitLabel)) event.preventDefault();
              }}
            >
              <Canvas editor={editor} />
            </div>
            <p id="canvas-hint" class="unseen">
              {words.canvasHint}
            </p>
          </section>
          <Side editor={editor} />
          <ViewBar editor={editor} onFit={fitLabel}>
            <Status editor={editor} />
          </ViewBar>
        </div>
      </div>
      {saving.conflict.value && <Conflict id={id} saving={saving} onReload={onReload} />}
    </Page>
  );
}

/** Says whether the picture shows the label as it is now, dot for dot as a printer gets it. */
function Status({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const { busy, problem, last } = editor.drawing;
  if (problem.value !== undefined) return <Problem problem={problem.value} />;
  const current = last.value?.scene.document === editor.scene.value.document;
  const drawn = last.value?.preview.png !== null;
  const settled = drawn
    ? (last.value?.refused.size ?? 0) > 0
      ? words.inRed
      : words.exact
    : words.undrawable;
  const says = busy.value || !current ? words.drawing : settled;
  return (
    <p class="small muted status" data-drawn={!busy.value && current}>
      {says}
    </p>
  );
}

function Conflict({ id, saving, onReload }: { id: string; saving: Saving; onReload: () => void }) {
  const { designer: words, general } = t.value;
  const close = () => {
    saving.conflict.value = false;
  };
  const problem = useSignal<Error | undefined>(undefined);
  const attempt = (work: () => Promise<void>) => () => {
    work().catch((error: unknown) => {
      problem.value = errorOf(error);
    });
  };
  return (
    <Dialog title={words.conflictTitle} onClose={close}>
      <p>{words.conflictSays}</p>
      {problem.value !== undefined && <Problem problem={problem.value} />}
      <div class="row end">
        <button type="button" class="button" onClick={close}>
          {general.cancel}
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            close();
            onReload();
          }}
        >
          {words.seeTheirs}
        </button>
        <button type="button" class="button danger" onClick={attempt(() => saving.overwrite())}>
          {words.overwrite}
        </button>
        <button
          type="button"
          class="button primary"
          onClick={attempt(async () => {
            const copy = await saving.saveCopy();
            close();
            go(['templates', copy, 'design']);
            if (copy === id) onReload();
          })}
        >
          {words.saveCopy}
        </button>
      </div>
    </Dialog>
  );
}
