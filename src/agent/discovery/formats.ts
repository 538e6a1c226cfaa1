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
      width: candidate.width ?? identity?.width ?? COMMON.width,
      height: candidate.height ?? identity?.height ?? COMMON.height,
    },
  ];
  const formats = entries.map((entry) => {
    const [width, height] = [hundredths(entry.width), hundredths(entry.height)];
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

function hundredths(mm: number): number {
  return Math.round(mm * 100) / 100;
}
