/** What is open in the designer: the label with its history, how it is looked at, and what the service has drawn of it. */
import { computed, effect, signal } from '@preact/signals';
import type { Orientation } from '../../src/contract/print-request.ts';
import type { Framed } from './align.ts';
import {
  change,
  type LabelDocument,
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
import { Records } from './records.ts';
import { rasterOf, type Snap } from './snapping.ts';

/** ms without a move. */
const REST = 150;

const NO_FIELDS: NonNullable<LabelDocument['fields']> = [];

/** Once larger, or smaller. */
export const STEP = 1.25;
/** Pixels a mm. */
const [SMALLEST, LARGEST] = [0.5, 40];

export class Editor {
  readonly history = signal<History>(begin(sceneOf({ name: '', width: 1, height: 1, elements: [] })));
  /** While something is dragged: how it would be if it were let go now. */
  readonly dragged = signal<Scene | undefined>(undefined);
  readonly scene = computed(() => this.dragged.value ?? this.history.value.now);
  /** Keys; what is dragged is what was chosen before. */
  readonly chosen = computed(() => this.scene.value.selected);
  /** Whether what is chosen is more than one thing, and whether any of it is of a group. */
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
  /** Whether it is marked what a printer draws by itself. */
  readonly marks = signal(true);
  /** What the fields have for now, by name; one without a value, and without one that stands in, is left out. */
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
  /** Pixels a mm. */
  readonly zoom = signal(4);
  readonly drawing = new Drawing();
  readonly #stop: () => void;

  constructor(document: LabelDocument) {
    this.history.value = begin(sceneOf(document));
    if (document.dpi !== undefined) this.dpi.value = document.dpi;
    // What is chosen is drawn by the page itself.
    const [now, layers] = [
      computed(() => this.scene.value.document),
      computed(() => this.scene.value.layers),
    ];
    let rest: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const scene = { document: now.value, layers: layers.value, selected: [] };
      const look = { dpi: this.dpi.value, orientation: this.orientation.value, record: this.record.value };
      clearTimeout(rest);
      // What is dragged shows its own dots; all others are asked for where the hand rests.
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

  /** @param together see `step` */
  do(work: (scene: Scene) => Scene, together?: string): void {
    this.history.value = step(this.history.value, work(this.history.value.now), together);
  }

  undo(): void {
    this.history.value = undo(this.history.value);
  }

  redo(): void {
    this.history.value = redo(this.history.value);
  }

  /** @param alone not with its group */
  select(keys: readonly number[], alone = false): void {
    this.do((scene) => select(scene, keys, alone));
  }

  get selected(): Placed[] {
    return selection(this.scene.value);
  }

  /** Where an element is, by its ink where it has no box of its own; ink that has been drawn elsewhere goes along. */
  frame(own: Pick<Placed, 'key' | 'element'>): Box {
    return frameOf(own.element, this.#drawnAt(own, 'ink'));
  }

  /** As `frame`, of text what is seen of it: by this things are put in line. */
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
    this.do((scene) => change(scene, selected, (element, own) => turned(element, this.frame(own))));
  }
}
