/** Applies `~DG`, `~DY` and `~EG` to the objects in a printer's memory. */

import { GraphicError } from '../graphic-data.ts';
import { objectName } from '../names.ts';
import { downloadedGraphic, GraphicRoom } from './graphic-field.ts';
import type { PrinterMemory } from './printer-memory.ts';

/** Carries the command out; returns why it could not, if so. */
export function download(name: string, params: Buffer, memory: PrinterMemory): string | undefined {
  if (name === 'EG') memory.deleteKind('graphic');
  try {
    const graphic = downloadedGraphic(name, params, new GraphicRoom());
    if (!graphic) return undefined;
    const object = objectName(graphic.object, 'GRF');
    const definition = `~DG${object},${graphic.rest}`;
    const stored = memory.store(object, {
      kind: 'graphic',
      definition,
      dots: graphic.dots,
      bytes: definition.length,
    });
    return stored ? undefined : `no room for ${object}`;
  } catch (error) {
    if (!(error instanceof GraphicError)) throw error;
    return error.message;
  }
}
