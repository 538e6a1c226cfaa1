/**
 * The drawing area of the designer: the service's picture of the label, with elements and handles over it. An
 * element that has been moved since the picture was drawn appears at its new place with its old dots.
 */
import type { ComponentChild } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { pngAddress } from '../templates/preview.ts';
import { t } from '../texts/texts.ts';
import { around } from './align.ts';
import { type LabelElement, placed } from './document.ts';
import type { Drawn } from './drawing.ts';
import type { Editor } from './editor.ts';
import { type Box, CORNERS, cornerOf, type Handle, handlesOf, pointOf } from './frame.ts';
import { Gestures } from './gestures.ts';
import { nameOf } from './naming.ts';
import { isOpen } from './new-elements.ts';
import { Grid, Rulers } from './rulers.tsx';
import { Typing } from './typing.tsx';

/** The side of a handle, in pixels. */
const HANDLE = 9;

export function Canvas({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const gestures = useMemo(() => new Gestures(editor), [editor]);
  const group = useRef<SVGGElement>(null);
  // The drawing captures the pointer, so a double click comes to it and not to the element: this remembers which was pressed.
  const pressed = useRef<number | undefined>(undefined);
  const { document: label } = editor.scene.value;
  const landscape = editor.orientation.value === 'landscape';
  const [width, height] = landscape ? [label.height, label.width] : [label.width, label.height];
  const zoom = editor.zoom.value;

  const mm = (event: PointerEvent) => {
    const matrix = group.current?.getScreenCTM()?.inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return { x, y };
  };
  const press = (event: PointerEvent) => {
    if (event.button !== 0 || !(event.target instanceof SVGElement)) return;
    const { key, handle } = event.target.dataset;
    pressed.current = key === undefined ? undefined : Number(key);
    const known = isHandle(handle) ? handle : undefined;
    if (known !== undefined) {
      gestures.pressHandle(mm(event), key === undefined ? undefined : Number(key), known);
    } else gestures.press(mm(event), key === undefined ? undefined : Number(key), event.shiftKey);
    if (event.currentTarget instanceof Element) event.currentTarget.setPointerCapture(event.pointerId);
  };
  useEffect(() => {
    const stop = (event: KeyboardEvent) => {
      if (event.key === 'Escape') gestures.cancel();
    };
    addEventListener('keydown', stop);
    return () => removeEventListener('keydown', stop);
  }, [gestures]);

  const drawing = (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset
    <svg
      class="canvas"
      role="group"
      aria-label={words.canvas}
      aria-describedby="canvas-hint"
      width={width * zoom}
      height={height * zoom}
      viewBox={`0 0 ${width} ${height}`}
      onPointerDown={press}
      onPointerMove={(event) => gestures.drag(mm(event), event.ctrlKey || event.metaKey)}
      onPointerUp={() => gestures.release()}
      onDblClick={() => {
        if (pressed.current === undefined) return;
        editor.select([pressed.current], true);
        editor.typeOnLabel();
      }}
      onPointerCancel={() => gestures.cancel()}
    >
      <Rulers width={width} height={height} zoom={zoom} landscape={landscape} />
      <g ref={group} transform={landscape ? `translate(${label.height} 0) rotate(90)` : undefined}>
        <rect class="sheet" width={label.width} height={label.height} rx={0.4} />
        <Dots editor={editor} />
        {editor.grid.value && <Grid width={label.width} height={label.height} zoom={zoom} />}
        {editor.marks.value && <PrinterMarks editor={editor} />}
        <Things editor={editor} gestures={gestures} />
        <Chosen editor={editor} />
        {gestures.guides.value.map(({ axis, at }) =>
          axis === 'x' ? (
            <line key={`x${at}`} class="guide" x1={at} x2={at} y1={-5} y2={label.height + 5} />
          ) : (
            <line key={`y${at}`} class="guide" y1={at} y2={at} x1={-5} x2={label.width + 5} />
          ),
        )}
        {gestures.lasso.value !== undefined && <rect class="lasso" {...gestures.lasso.value} />}
      </g>
    </svg>
  );
  return (
    <div class="canvas-place">
      {drawing}
      <Typing editor={editor} />
    </div>
  );
}

const HANDLES: readonly string[] = ['n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw', 'start', 'end'];
function isHandle(name: string | undefined): name is Handle {
  return name !== undefined && HANDLES.includes(name);
}

/** The picture as the service drew it, turned back if it was drawn in landscape. */
function Picture({ last: { preview, look, scene } }: { last: Drawn }) {
  if (preview.png === null) return null;
  const mm = (dots: number) => (dots * 25.4) / look.dpi;
  const turned =
    look.orientation === 'landscape' ? `rotate(-90) translate(${-scene.document.height} 0)` : undefined;
  return (
    <image
      class="dots"
      href={pngAddress(preview.png)}
      width={mm(preview.width)}
      height={mm(preview.height)}
      preserveAspectRatio="none"
      transform={turned}
    />
  );
}

function Dots({ editor }: { editor: Editor }) {
  const last = editor.drawing.last.value;
  if (last === undefined) return null;
  const moved = placed(editor.scene.value).flatMap(({ key, element }) => {
    const [ink, before] = [last.ink.get(key), last.elements.get(key)];
    if (ink === undefined || before === undefined) return [];
    const [dx, dy] = [element.x - before.x, element.y - before.y];
    return dx === 0 && dy === 0 ? [] : [{ key, ink, dx, dy }];
  });
  const there = new Set(placed(editor.scene.value).flatMap(({ key, hidden }) => (hidden ? [] : [key])));
  const gone = [...last.ink].filter(([key]) => !there.has(key));
  return (
    <g>
      <Picture last={last} />
      {gone.map(([key, ink]) => (
        <rect key={key} class="sheet" {...ink} />
      ))}
      {moved.map(({ key, ink }) => (
        <rect key={key} class="sheet" {...ink} />
      ))}
      {moved.map(({ key, ink, dx, dy }) => (
        <svg
          key={key}
          class="stamp"
          aria-hidden="true"
          focusable="false"
          x={ink.x + dx}
          y={ink.y + dy}
          width={ink.width}
          height={ink.height}
          viewBox={`${ink.x} ${ink.y} ${ink.width} ${ink.height}`}
        >
          <Picture last={last} />
        </svg>
      ))}
      <Refused editor={editor} last={last} />
    </g>
  );
}

/**
 * Marks in red what would not print: the dots of elements that do not fit, cut off at the label's edge, and the frames of
 * elements that cannot be drawn at all.
 */
function Refused({ editor, last }: { editor: Editor; last: Drawn }) {
  const { width, height } = editor.scene.value.document;
  return (
    <svg class="refused" aria-hidden="true" focusable="false" width={width} height={height}>
      {placed(editor.scene.value).map((own) => {
        if (own.hidden || !last.refused.has(own.key)) return null;
        const ink = editor.ink(own);
        return (
          <rect
            key={own.key}
            class={ink === undefined ? 'not-drawn' : 'dots-red'}
            {...(ink ?? editor.frame(own))}
          />
        );
      })}
    </svg>
  );
}

/** Draws a dotted line below each element that a ZPL printer draws with its own means. */
function PrinterMarks({ editor }: { editor: Editor }) {
  const printer = editor.drawing.last.value?.printer;
  if (printer === undefined) return null;
  return (
    <g>
      {placed(editor.scene.value).map((own) => {
        const what = printer.get(own.key);
        if (what === undefined || own.hidden) return null;
        const { x, y, width, height } = editor.frame(own);
        return (
          <line
            key={own.key}
            class={`by-printer ${what}`}
            x1={x}
            x2={x + width}
            y1={y + height}
            y2={y + height}
          />
        );
      })}
    </g>
  );
}

function Things({ editor, gestures }: { editor: Editor; gestures: Gestures }) {
  const { designer: words } = t.value;
  const { selected } = editor.scene.value;
  const worst = new Map<number, string>();
  for (const { key, severity } of editor.drawing.last.value?.problems ?? []) {
    if (key !== undefined && worst.get(key) !== 'error') worst.set(key, severity);
  }
  const { format: number } = useMemo(
    () => new Intl.NumberFormat(t.value.locale, { maximumFractionDigits: 2 }),
    [t.value.locale],
  );
  // The nodes of unchanged elements are reused: during a drag, all but those of the dragged elements.
  const before = useRef(new Map<number, { of: string; element: LabelElement; node: ComponentChild }>());
  const nodes = new Map<number, { of: string; element: LabelElement; node: ComponentChild }>();
  const shown = placed(editor.scene.value)
    .filter(({ hidden, locked }) => !hidden && !locked)
    .map((own) => {
      const { key, element } = own;
      const chosen = selected.includes(key);
      const frame = roomy(editor.frame(own), editor.zoom.value);
      const of = JSON.stringify([chosen, worst.get(key), frame, t.value.locale]);
      const known = before.current.get(key);
      if (known?.of === of && known.element === element) {
        nodes.set(key, known);
        return known.node;
      }
      const place = words.placeOf(number(element.x), number(element.y));
      const node = (
        // biome-ignore lint/a11y/useSemanticElements: HTML has no button within a drawing
        <rect
          key={key}
          data-key={key}
          role="button"
          tabIndex={0}
          aria-pressed={chosen}
          aria-label={`${nameOf(element)}, ${place}`}
          class={`thing ${worst.get(key) ?? ''} ${isOpen(element) ? 'hollow' : ''}`}
          {...frame}
          onFocus={() => {
            if (!gestures.pressing && !chosen) editor.select([key]);
          }}
        />
      );
      nodes.set(key, { of, element, node });
      return node;
    });
  before.current = nodes;
  const all = useRef<SVGGElement>(null);
  const focused = editor.focused.value;
  useLayoutEffect(() => {
    if (focused.key === undefined) return;
    all.current?.querySelector<SVGElement>(`[data-key="${focused.key}"]`)?.focus();
  }, [focused]);
  return <g ref={all}>{shown}</g>;
}

/** Widens the box of a thin element to at least 10 pixels in each direction, so that a pointer can hit it. */
function roomy(box: Box, zoom: number): Box {
  const least = 10 / zoom;
  const [width, height] = [Math.max(box.width, least), Math.max(box.height, least)];
  return { x: box.x - (width - box.width) / 2, y: box.y - (height - box.height) / 2, width, height };
}

function Chosen({ editor }: { editor: Editor }) {
  const { framed } = editor;
  const size = HANDLE / editor.zoom.value;
  const finger = matchMedia('(pointer: coarse)').matches ? 44 : 20;
  const reach = finger / editor.zoom.value;
  const [only, ...more] = framed;
  if (only === undefined) return null;
  const whole = around(framed.map(({ frame }) => frame));
  const grip = (handle: Handle, { x, y }: { x: number; y: number }, key?: number) => (
    <g key={handle} class={`handle ${handle}`}>
      <rect class="grip" x={x - size / 2} y={y - size / 2} width={size} height={size} />
      <rect
        class="grip-reach"
        {...(key !== undefined && { 'data-key': key })}
        data-handle={handle}
        x={x - reach / 2}
        y={y - reach / 2}
        width={reach}
        height={reach}
      />
    </g>
  );
  return (
    <g>
      {framed.map(({ key, frame }) => (
        <rect key={key} class="chosen-frame" {...frame} />
      ))}
      {more.length === 0
        ? handlesOf(only.element).map((handle) =>
            grip(handle, pointOf(handle, only.element, only.frame), only.key),
          )
        : CORNERS.map((handle) => grip(handle, cornerOf(handle, whole)))}
      {more.length > 0 && <rect class="chosen-frame whole" {...whole} />}
    </g>
  );
}
