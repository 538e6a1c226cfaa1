/** Rulers above and to the left of the label, in its own millimetres, and the grid over it. */
import { useMemo } from 'preact/hooks';

/** Pixels: the gap between a ruler and the label, the length of a tick, and the size of the numbers. */
const [GAP, TICK, NUMBER] = [6, 7, 10];
/** Ticks, numbers and grid lines are `mm` apart if the zoom (pixels per mm) is at least `from`. The first that fits counts. */
const TICKS = [
  { from: 4, mm: 1 },
  { from: 1, mm: 5 },
  { from: 0, mm: 10 },
] as const;
const NUMBERS = [
  { from: 3, mm: 10 },
  { from: 1, mm: 20 },
  { from: 0, mm: 100 },
] as const;
const LINES = [
  { from: 8, mm: 1 },
  { from: 2, mm: 5 },
  { from: 0, mm: 10 },
] as const;

const stepAt = (steps: typeof TICKS | typeof NUMBERS | typeof LINES, zoom: number) =>
  steps.find(({ from }) => zoom >= from)?.mm ?? 10;

/** All multiples of a step that lie on a side. */
function along(side: number, step: number): number[] {
  return Array.from({ length: Math.floor(side / step + 1e-6) + 1 }, (_, at) => at * step);
}

type Props = { width: number; height: number; zoom: number; landscape: boolean };

/** @param landscape the label is shown turned: its x axis runs down, and its y axis to the left */
export function Rulers({ width, height, zoom, landscape }: Props) {
  return useMemo(() => {
    const px = 1 / zoom;
    const [ticks, numbers] = [stepAt(TICKS, zoom), stepAt(NUMBERS, zoom)];
    const across = (at: number) => (landscape ? width - at : at);
    const end = (at: number) => -(GAP + TICK * (at % 10 === 0 ? 1 : at % 5 === 0 ? 0.7 : 0.4)) * px;
    const tickPath = [
      ...along(width, ticks).map((at) => `M${across(at)} ${-GAP * px}V${end(at)}`),
      ...along(height, ticks).map((at) => `M${-GAP * px} ${at}H${end(at)}`),
    ].join('');
    const beside = (GAP + TICK + 1) * px;
    return (
      <svg class="rulers" aria-hidden="true" focusable="false" font-size={NUMBER * px}>
        <path d={tickPath} />
        {along(width, numbers).map((at) => (
          <text key={`x${at}`} x={across(at)} y={-beside} text-anchor="middle">
            {at}
          </text>
        ))}
        {along(height, numbers).map((at) => (
          <text key={`y${at}`} x={-beside} y={at} text-anchor="end" dominant-baseline="central">
            {at}
          </text>
        ))}
      </svg>
    );
  }, [width, height, zoom, landscape]);
}

/** The lines of the grid on the label, which begin at its own corner. */
export function Grid({ width, height, zoom }: Omit<Props, 'landscape'>) {
  return useMemo(() => {
    const step = stepAt(LINES, zoom);
    const lines = [
      ...along(width, step).map((at) => `M${at} 0V${height}`),
      ...along(height, step).map((at) => `M0 ${at}H${width}`),
    ];
    return <path class="grid" d={lines.join('')} />;
  }, [width, height, zoom]);
}
