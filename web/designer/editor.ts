/** What is open in the designer: the label with its history, how it is looked at, and what the service has drawn of it. */
import { computed, effect, signal } from '@preact/signals';
import type { LabelRecord, Orientation } from '../../src/contract/print-request.ts';
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
import { type Box, frameOf, turned } from './frame.ts';
import { begin, type History, redo, step, undo } from './history.ts';
import { rasterOf, type Snap } from './snapping.ts';

export class Editor {
  readonly history = signal<History>(begin(sceneOf({ name: '', width: 1, height: 1, elements: [] })));
  /** While something is dragged: how it would be if it were let go now. */
  readonly dragged = signal<Scene | undefined>(undefined);
  readonly scene = computed(() => this.dragged.value ?? this.history.value.now);
  readonly dpi = signal(203);
  readonly orientation = signal<Orientation>('portrait');
  readonly snap = signal<Snap>('dots');
  readonly record = signal<LabelRecord | undefined>(undefined);
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
    this.#stop = effect(() => {
      this.drawing.want(
        { document: now.value, layers: layers.value, selected: [] },
        { dpi: this.dpi.value, orientation: this.orientation.value, record: this.record.value },
      );
    });
  }

  end(): void {
    this.#stop();
    this.drawing.end();
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

  select(keys: readonly number[]): void {
    this.do((scene) => select(scene, keys));
  }

  get selected(): Placed[] {
    return selection(this.scene.value);
  }

  /** Where an element is, by its ink where it has no box of its own; ink that has been drawn elsewhere goes along. */
  frame({ key, element }: Pick<Placed, 'key' | 'element'>): Box {
    const last = this.drawing.last.value;
    const ink = last?.ink.get(key);
    const before = last?.elements.get(key);
    if (ink === undefined || before === undefined) return frameOf(element);
    const [dx, dy] = [element.x - before.x, element.y - before.y];
    return frameOf(element, { ...ink, x: ink.x + dx, y: ink.y + dy });
  }

  get framed(): Framed[] {
    return this.selected.map((own) => ({ ...own, frame: this.frame(own) }));
  }

  get others(): Box[] {
    return placed(this.scene.value)
      .filter(({ key, hidden }) => !hidden && !this.scene.value.selected.includes(key))
      .map((own) => this.frame(own));
  }

  get raster(): number | undefined {
    return rasterOf(this.snap.value, this.dpi.value);
  }

  turn(): void {
    const { selected } = this.scene.value;
    this.do((scene) => change(scene, selected, (element, own) => turned(element, this.frame(own))));
  }
}
