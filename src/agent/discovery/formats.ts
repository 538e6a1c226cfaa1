/** A printer's formats, from what the operator set and what the device says. */
import type { DeviceIdentity } from '../../../drivers/languages/device.ts';
import type { PrinterFormat } from '../../contract/format.ts';
import type { Candidate } from './provider.ts';

/**
 * For a printer that cannot be asked and for which nothing is set: the most common label printer there is. A
 * template made for something else gives a warning at validation.
 */
const COMMON = { dpi: 203, width: 101.6, height: 152.4 };

/** At least one; the first is the default. IDs are made from what the format is: `zpl-203-101.6x152.4`. */
export function formatsOf(candidate: Candidate, identity: DeviceIdentity | null): PrinterFormat[] {
  const entries = candidate.formats ?? [
    {
      language: candidate.language,
      dpi: candidate.dpi ?? identity?.dpi ?? COMMON.dpi,
      width: candidate.width ?? nominal(identity?.width) ?? COMMON.width,
      height: candidate.height ?? nominal(identity?.height) ?? COMMON.height,
    },
  ];
  const formats = entries.map((entry) => {
    const { width, height } = entry;
    const name = 'name' in entry && entry.name !== undefined ? entry.name : undefined;
    return {
      id: `${entry.language}-${entry.dpi}-${width}x${height}`,
      name: name ?? `${width} × ${height} mm, ${entry.dpi} dpi`,
      language: entry.language,
      dpi: entry.dpi,
      width,
      height,
    };
  });
  return formats.filter((format, index) => formats.findIndex(({ id }) => id === format.id) === index);
}

const EIGHTH_INCH = 25.4 / 8;
/** A printer's whole dots, and what a maker calls 203 dpi, are off by this much, mm. */
const TOLERANCE = 0.25;

/** The size that media is sold in (whole mm, eighths of an inch) next to what the device says, if one is near. */
function nominal(mm: number | undefined): number | undefined {
  if (mm === undefined) return undefined;
  const sold = [Math.round(mm), Math.round(mm / EIGHTH_INCH) * EIGHTH_INCH];
  const [nearest = mm] = sold.toSorted((a, b) => Math.abs(a - mm) - Math.abs(b - mm));
  const size = Math.abs(nearest - mm) <= TOLERANCE && nearest > 0 ? nearest : mm;
  return Math.round(size * 100) / 100;
}
