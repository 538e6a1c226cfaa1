/** Pointer gestures on the label: selecting, moving, pulling a handle, drawing a lasso. All places are in mm. */
import { signal } from '@preact/signals';
import { around, type Framed } from './align.ts';
import { change, move, placed, type Scene, select } from './document.ts';
import type { Editor } from './editor.ts';
import { type Box, type Corner, type Handle, pointOf, resized } from './frame.ts';
import { scaled } from './scaling.ts';
import { drawnTo, type Guide, type Lines, linesOf, snapped } from './snapping.ts';

type Point = { x: number; y: number };
type Begun =
  | { kind: 'move'; from: Point; base: Scene; box: Box; lines: Lines; moves: boolean; onTap: number[] }
  | { kind: 'pull'; from: Point; base: Scene; key: number; handle: Handle; frame: Box }
  | { kind: 'scale'; from: Point; base: Scene; handle: Corner; framed: readonly Framed[] }
  | { kind: 'lasso'; from: Point; before: readonly number[] };

/** Pixels. A press that moves by `THRESHOLD` or more is a drag; an edge snaps to another one within `REACH`. */
const THRESHOLD = 3;
const REACH = 6;

export class Gestures {
  readonly guides = signal<readonly Guide[]>([]);
  readonly lasso = signal<Box | undefined>(undefined);
  readonly #editor: Editor;
  #begun: Begun | undefined;

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  /** Whether the pointer is pressed. The focus that comes with a press must not select anything. */
  get pressing(): boolean {
    return this.#begun !== undefined;
  }

  /** @param key the element that is pressed; undefined: the press is beside all elements */
  press(at: Point, key: number | undefined, adds: boolean): void {
    const editor = this.#editor;
    const { selected } = editor.scene.value;
    if (key === undefined) {
      this.#begun = { kind: 'lasso', from: at, before: adds ? selected : [] };
      if (!adds) editor.select([]);
      return;
    }
    const chosen = selected.includes(key);
    if (adds && chosen) editor.do((scene) => select(scene, without(scene, key), true));
    else if (adds) editor.select([...selected, key]);
    else if (!chosen) editor.select([key]);
    const framed = editor.outlined;
    if (framed.length === 0) return;
    this.#begun = {
      kind: 'move',
      from: at,
      base: editor.scene.value,
      box: around(framed.map(({ frame }) => frame)),
      lines: linesOf(editor.others, editor.scene.value.document),
      moves: false,
      onTap: chosen && !adds ? [key] : [],
    };
  }

  /** @param key the element that has the handle; undefined: it is a corner of the frame around all selected elements */
  pressHandle(at: Point, key: number | undefined, handle: Handle): void {
    const base = this.#editor.scene.value;
    if (key === undefined) {
      if (handle === 'start' || handle === 'end') return;
      this.#begun = { kind: 'scale', from: at, base, handle, framed: this.#editor.framed };
      return;
    }
    const own = placed(base).find((one) => one.key === key);
    if (own === undefined) return;
    this.#begun = { kind: 'pull', from: at, base, key, handle, frame: this.#editor.frame(own) };
  }

  /** @param free nothing snaps */
  drag(at: Point, free: boolean): void {
    const begun = this.#begun;
    if (begun === undefined) return;
    const { zoom, raster, dragged } = this.#editor;
    const [dx, dy] = [at.x - begun.from.x, at.y - begun.from.y];
    if (begun.kind === 'lasso') {
      this.lasso.value = around([
        { ...begun.from, width: 0, height: 0 },
        { ...at, width: 0, height: 0 },
      ]);
      return;
    }
    if (begun.kind === 'pull') {
      dragged.value = this.#pulled(begun, { dx, dy }, free ? undefined : raster);
      return;
    }
    if (begun.kind === 'scale') {
      dragged.value = scaled(begun.base, begun.framed, begun.handle, { dx, dy }, this.#editor.dpi.value);
      return;
    }
    begun.moves ||= Math.hypot(dx, dy) * zoom.value > THRESHOLD;
    if (!begun.moves) return;
    const reach = free ? 0 : REACH / zoom.value;
    const to = drawnTo({
      box: begun.box,
      dx,
      dy,
      lines: begun.lines,
      reach,
      raster: free ? undefined : raster,
    });
    this.guides.value = to.guides;
    dragged.value = move(begun.base, begun.base.selected, to.dx, to.dy);
  }

  release(): void {
    const begun = this.#begun;
    const editor = this.#editor;
    const [to, lasso] = [editor.dragged.value, this.lasso.value];
    this.cancel();
    if (begun?.kind === 'lasso') this.#caught(begun.before, lasso);
    else if (to !== undefined) editor.do(() => to);
    else if (begun?.kind === 'move' && begun.onTap.length > 0) editor.select(begun.onTap);
  }

  /** Ends the gesture without changing the label. */
  cancel(): void {
    this.#begun = undefined;
    this.guides.value = [];
    this.lasso.value = undefined;
    this.#editor.dragged.value = undefined;
  }

  #caught(before: readonly number[], lasso: Box | undefined): void {
    const editor = this.#editor;
    if (lasso === undefined) return;
    const caught = placed(editor.scene.value).filter((own) => inside(editor.frame(own), lasso));
    editor.do((scene) => select(scene, [...before, ...caught.map(({ key }) => key)]));
  }

  #pulled(
    { base, key, handle, frame }: Extract<Begun, { kind: 'pull' }>,
    by: { dx: number; dy: number },
    raster: number | undefined,
  ): Scene {
    return change(base, [key], (element) => {
      const corner = pointOf(handle, element, frame);
      const dx = snapped(corner.x + by.dx, raster) - corner.x;
      const dy = snapped(corner.y + by.dy, raster) - corner.y;
      return resized(element, frame, handle, { dx, dy }, this.#editor.dpi.value);
    });
  }
}

/** The selected elements, but for one of them and its group. */
function without(scene: Scene, key: number): number[] {
  const all = placed(scene);
  const group = all.find((own) => own.key === key)?.element.group;
  return all
    .filter((own) => scene.selected.includes(own.key) && own.key !== key)
    .filter(({ element }) => group === undefined || element.group !== group)
    .map((own) => own.key);
}

function inside(box: Box, lasso: Box): boolean {
  return (
    box.x >= lasso.x &&
    box.y >= lasso.y &&
    box.x + box.width <= lasso.x + lasso.width &&
    box.y + box.height <= lasso.y + lasso.height
  );
}
