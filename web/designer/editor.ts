/** The state of the open designer: the label with its history, the view of it, and the service's picture. */
import { computed, effect, signal } from '@preact/signals';
import type { Orientation } from '../../src/contract/print-request.ts';
import type { Framed } from './align.ts';
import {
  add,
  change,
  changed,
  changeLabel,
  contentOf,
  type LabelDocument,
  type LabelElement,
  type Placed,
  placed,
  type Scene,
  sceneOf,
  select,
  selection,
} from './document.ts';
import { Drawing } from './drawing.ts';
import { type Box, frameOf, outlineOf, turned } from './frame.ts';
import { group, ungroup } from './groups.ts';
import { begin, type History, redo, step, undo } from './history.ts';
import { isOpen, placedFreely } from './new-elements.ts';
import { Records } from './records.ts';
import { rasterOf, type Snap } from './snapping.ts';

/** ms for which the pointer must rest during a drag before a new picture is requested. */
const REST = 150;

const NO_FIELDS: NonNullable<LabelDocument['fields']> = [];

/** By which factor one step zooms. */
export const STEP = 1.25;
/** The least and the greatest zoom, pixels per mm. */
const [SMALLEST, LARGEST] = [0.5, 40];

export class Editor {
  readonly history = signal<History>(begin(sceneOf({ name: '', width: 1, height: 1, elements: [] })));
  /** The scene; during a drag, as it would be if the drag ended now. */
  readonly dragged = signal<Scene | undefined>(undefined);
  readonly scene = computed(() => this.dragged.value ?? this.history.value.now);
  /** Keys of the selected elements, also during a drag. */
  readonly chosen = computed(() => this.scene.value.selected);
  /** Whether several elements are selected that are not one group already. */
  readonly canGroup = computed(() => {
    const [first, ...more] = this.selected.map(({ element }) => element.group);
    return more.length > 0 && (first === undefined || more.some((name) => name !== first));
  });
  readonly canUngroup = computed(() => this.selected.some(({ element }) => element.group !== undefined));
  readonly dpi = signal(203);
  readonly orientation = signal<Orientation>('portrait');
  readonly snap = signal<Snap>('dots');
  readonly records = new Records(computed(() => this.scene.value.document.fields ?? NO_FIELDS));
  readonly record = this.records.record;
  /** Whether elements that a printer draws with its own means are marked. */
  readonly marks = signal(true);
  readonly grid = signal(false);
  /** The element whose content is being typed on the label. */
  readonly typing = signal<number | undefined>(undefined);
  /** The values with which the label is shown, by field. A field with neither a value nor a default is left out. */
  readonly samples = computed<ReadonlyMap<string, string>>(() => {
    const record = this.record.value;
    const { fields = [] } = this.scene.value.document;
    return new Map(
      fields.flatMap(({ name, sample, default: fallback }) => {
        const value = (record === undefined ? sample : record[name]) ?? fallback;
        return value === undefined ? [] : [[name, String(value)] as const];
      }),
    );
  });
  /** The element that is to have the focus. Each request sets a new object, so that the same element can be asked for again. */
  readonly focused = signal<{ readonly key: number | undefined }>({ key: undefined });
  /** Pixels per mm. */
  readonly zoom = signal(4);
  readonly drawing = new Drawing();
  readonly #stop: () => void;

  constructor(document: LabelDocument) {
    this.history.value = begin(sceneOf(document));
    if (document.dpi !== undefined) this.dpi.value = document.dpi;
    // The page itself draws the selection, so no picture is requested if only that changes.
    const [now, layers] = [
      computed(() => this.scene.value.document),
      computed(() => this.scene.value.layers),
    ];
    let rest: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const scene = { document: now.value, layers: layers.value, selected: [] };
      const look = { dpi: this.dpi.value, orientation: this.orientation.value, record: this.record.value };
      clearTimeout(rest);
      // During a drag elements are shown with their old dots. A picture is requested when the pointer rests.
      if (this.dragged.peek() === undefined) this.drawing.want(scene, look);
      else rest = setTimeout(() => this.drawing.want(scene, look), REST);
    });
    this.#stop = () => {
      stop();
      clearTimeout(rest);
    };
  }

  end(): void {
    this.#stop();
    this.drawing.end();
  }

  magnify(by: number): void {
    this.zoom.value = Math.min(LARGEST, Math.max(SMALLEST, this.zoom.value * by));
  }

  /** @param together as `step` has it */
  do(work: (scene: Scene) => Scene, together?: string): void {
    this.history.value = step(this.history.value, work(this.history.value.now), together);
  }

  /**
   * Sets members of elements, as one step; `undefined` removes one.
   * @param word successive changes with the same word are undone as one step
   * @returns whether the schema takes the change for at least one of the elements
   */
  set(keys: readonly number[], members: Readonly<Record<string, unknown>>, word?: string): boolean {
    let taken = false;
    const set = (scene: Scene) =>
      change(scene, keys, (element) => {
        const next = changed(element, members);
        taken ||= next !== element;
        return next;
      });
    this.do(set, word && `${keys.join()} ${word}`);
    return taken;
  }

  /** Sets members of the label itself. @returns whether the schema takes them */
  setLabel(members: Readonly<Record<string, unknown>>, word?: string): boolean {
    const before = this.scene.peek();
    this.do((scene) => changeLabel(scene, members), word);
    return this.scene.peek() !== before;
  }

  /** Adds a new element and gives it the focus. If there is room, it covers no other element. */
  put(element: LabelElement): void {
    const others = placed(this.scene.value).filter(({ hidden, element: other }) => !hidden && !isOpen(other));
    const boxes = others.map((own) => this.frame(own));
    this.do((scene) => add(scene, [placedFreely(element, boxes, scene.document)]));
    this.focusChosen();
  }

  /** Moves the focus to the selected element. */
  focusChosen(): void {
    this.focused.value = { key: this.history.value.now.selected[0] };
  }

  /** Lets the content of the one selected element be typed where it stands. @returns whether it has any content */
  typeOnLabel(): boolean {
    const [own, ...more] = this.selected;
    if (own === undefined || more.length > 0 || contentOf(own.element) === undefined) return false;
    this.typing.value = own.key;
    return true;
  }

  undo(): void {
    this.history.value = undo(this.history.value);
  }

  redo(): void {
    this.history.value = redo(this.history.value);
  }

  /** @param alone select it without the rest of its group */
  select(keys: readonly number[], alone = false): void {
    this.do((scene) => select(scene, keys, alone));
  }

  get selected(): Placed[] {
    return selection(this.scene.value);
  }

  /** The box of an element's ink; undefined: the element has not been drawn yet. */
  ink(own: Pick<Placed, 'key' | 'element'>): Box | undefined {
    return this.#drawnAt(own, 'ink');
  }

  /** The frame of an element, or of its ink if it has no box. Ink drawn before the element moved is moved with it. */
  frame(own: Pick<Placed, 'key' | 'element'>): Box {
    return frameOf(own.element, this.ink(own));
  }

  /** As `frame`, but a text has the box of its black dots. Alignment goes by this. */
  outline(own: Pick<Placed, 'key' | 'element'>): Box {
    return outlineOf(own.element, this.frame(own), this.#drawnAt(own, 'dots'));
  }

  #drawnAt({ key, element }: Pick<Placed, 'key' | 'element'>, what: 'ink' | 'dots'): Box | undefined {
    const last = this.drawing.last.value;
    const box = last?.[what].get(key);
    const before = last?.elements.get(key);
    if (box === undefined || before === undefined) return undefined;
    return { ...box, x: box.x + element.x - before.x, y: box.y + element.y - before.y };
  }

  get framed(): Framed[] {
    return this.selected.map((own) => ({ ...own, frame: this.frame(own) }));
  }

  get outlined(): Framed[] {
    return this.selected.map((own) => ({ ...own, frame: this.outline(own) }));
  }

  get others(): Box[] {
    return placed(this.scene.value)
      .filter(({ key, hidden }) => !hidden && !this.scene.value.selected.includes(key))
      .map((own) => this.outline(own));
  }

  get raster(): number | undefined {
    return rasterOf(this.snap.value, this.dpi.value);
  }

  group(): void {
    this.do((scene) => group(scene, scene.selected));
  }

  ungroup(): void {
    this.do((scene) => ungroup(scene, scene.selected));
  }

  turn(): void {
    const { selected } = this.scene.value;
    this.do((scene) =>
      change(scene, selected, (element, own) => turned(element, this.frame(own), scene.document)),
    );
  }
}
