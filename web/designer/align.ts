/** Aligns several elements, or distributes them with equal gaps. */
import { change, moved, type Placed, type Scene } from './document.ts';
import type { Box } from './frame.ts';

export const ALIGNMENTS = ['left', 'centre', 'right', 'top', 'middle', 'bottom'] as const;
type Alignment = (typeof ALIGNMENTS)[number];
export type Framed = Placed & { readonly frame: Box };

export function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** What is aligned as a whole: one element, or a group with the frame around all of its elements. */
type Unit = { readonly keys: readonly number[]; readonly frame: Box };

function unitsOf(chosen: readonly Framed[]): Unit[] {
  const units = new Map<string | number, Framed[]>();
  for (const own of chosen) {
    const of = own.element.group ?? own.key;
    units.set(of, [...(units.get(of) ?? []), own]);
  }
  return [...units.values()].map((members) => ({
    keys: members.map(({ key }) => key),
    frame: around(members.map(({ frame }) => frame)),
  }));
}

/** Aligns the units to the frame around all of them, or a single unit to the label. */
export function align(scene: Scene, chosen: readonly Framed[], to: Alignment): Scene {
  const { width, height } = scene.document;
  const units = unitsOf(chosen);
  const whole = units.length > 1 ? around(units.map(({ frame }) => frame)) : { x: 0, y: 0, width, height };
  return each(scene, units, ({ frame }) => {
    switch (to) {
      case 'left':
        return { dx: whole.x - frame.x, dy: 0 };
      case 'centre':
        return { dx: whole.x + (whole.width - frame.width) / 2 - frame.x, dy: 0 };
      case 'right':
        return { dx: whole.x + whole.width - frame.x - frame.width, dy: 0 };
      case 'top':
        return { dx: 0, dy: whole.y - frame.y };
      case 'middle':
        return { dx: 0, dy: whole.y + (whole.height - frame.height) / 2 - frame.y };
      case 'bottom':
        return { dx: 0, dy: whole.y + whole.height - frame.y - frame.height };
    }
  });
}

/** Moves the units so that the gaps between them are equal. The outermost two stay where they are. */
export function distribute(scene: Scene, chosen: readonly Framed[], along: 'x' | 'y'): Scene {
  const units = unitsOf(chosen);
  if (units.length < 3) return scene;
  const side = along === 'x' ? 'width' : 'height';
  const order = units.toSorted((a, b) => a.frame[along] - b.frame[along]);
  const whole = around(order.map(({ frame }) => frame));
  const filled = order.reduce((sum, { frame }) => sum + frame[side], 0);
  const gap = (whole[side] - filled) / (order.length - 1);
  const places = new Map<Unit, number>();
  let at = whole[along];
  for (const unit of order) {
    places.set(unit, at);
    at += unit.frame[side] + gap;
  }
  return each(scene, units, (unit) => {
    const by = (places.get(unit) ?? unit.frame[along]) - unit.frame[along];
    return along === 'x' ? { dx: by, dy: 0 } : { dx: 0, dy: by };
  });
}

function each(scene: Scene, units: readonly Unit[], by: (one: Unit) => { dx: number; dy: number }): Scene {
  const steps = new Map(units.flatMap((one) => one.keys.map((key) => [key, by(one)])));
  return change(scene, [...steps.keys()], (element, { key }) => {
    const step = steps.get(key);
    return step === undefined ? element : moved(element, step.dx, step.dy);
  });
}
