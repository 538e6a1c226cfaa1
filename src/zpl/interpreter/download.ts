/** Applies `~DG`, `~DY`, `~DU` and `~EG` to the objects in a printer's memory. */

import { GraphicError } from '../graphic-data.ts';
import { objectName } from '../names.ts';
import { downloadedGraphic, GraphicRoom } from './graphic-field.ts';
import type { PrinterMemory } from './printer-memory.ts';
import { downloadedFile } from './stored-file.ts';

/** Carries the command out. If that fails, it returns why. */
export function download(name: string, params: Buffer, memory: PrinterMemory): string | undefined {
  if (name === 'EG') {
    memory.deleteKind('graphic');
    memory.deleteKind('picture');
  }
  try {
    const file = downloadedFile(name, params);
    if (file !== undefined) return memory.store(file.object, file.stored) ? undefined : noRoom(file.object);
    const graphic = downloadedGraphic(name, params, new GraphicRoom());
    if (!graphic) return undefined;
    const object = objectName(graphic.object, 'GRF');
    const definition = `~DG${object},${graphic.rest}`;
    const { dots } = graphic;
    const stored = memory.store(object, { kind: 'graphic', definition, dots, bytes: definition.length });
    return stored ? undefined : noRoom(object);
  } catch (error) {
    if (!(error instanceof GraphicError)) throw error;
    return error.message;
  }
}

function noRoom(object: string): string {
  return `no room for ${object}`;
}
