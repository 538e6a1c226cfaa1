/**
 * The fonts that a label's texts use. A text names a stored font by the letter that `^CW` has given to it, or by its name
 * (`^A@`). The rasteriser gets each font as a download, and the texts then use the name of that download.
 *
 * Source: ZPL II Programming Guide, ^A, ^A@, ^CF and ^CW.
 */
import { GraphicError } from '../graphic-data.ts';
import { objectName } from '../names.ts';
import type { FontPiece } from './piece.ts';
import type { PrinterMemory } from './printer-memory.ts';

/** Swiss 721, the font that every printer has in its flash. Font 0 is drawn instead, because it is the most similar. */
const RESIDENT = /^[A-Z]:TT0003M_\./;

export class LabelFonts {
  readonly #memory: PrinterMemory;
  /** The fonts in use, by their names in the printer's memory. */
  readonly #used = new Map<string, FontPiece>();
  /** The font that `^A@` named last. */
  #named: string | undefined;

  constructor(memory: PrinterMemory) {
    this.#memory = memory;
  }

  /** The fonts, which the rasteriser must get before the texts. */
  get pieces(): FontPiece[] {
    return [...this.#used.values()];
  }

  /** `^CW` */
  assign(params: string): void {
    const [letter = '', name = ''] = params.split(',').map((value) => value.trim());
    if (/^[A-Z0-9]$/i.test(letter) && name !== '') {
      this.#memory.fontLetters.set(letter.toUpperCase(), objectName(name, 'FNT'));
    }
  }

  /**
   * A font command as the rasteriser reads it.
   * @param name `AZ`, `A@`
   * @throws GraphicError the font is not there
   */
  command(name: string, params: string): string {
    const letter = name.charAt(1);
    const [turn = '', height, width, ...path] = params.split(',');
    if (letter === '@' && path.length > 0) this.#named = objectName(path.join(','), 'FNT');
    const font = letter === '@' ? this.#named : this.#memory.fontLetters.get(letter);
    return font === undefined ? `^${name}${params}` : this.#call(font, turn, [height, width]);
  }

  /**
   * The font command for a text that has none, by `^CF`. Undefined: the font is one of the rasteriser's own.
   * @throws GraphicError
   */
  usual(): string | undefined {
    const letter = (this.#memory.settings.get('CF') ?? '').trim().charAt(0).toUpperCase();
    const font = this.#memory.fontLetters.get(letter);
    return font === undefined ? undefined : this.#call(font, '', []);
  }

  /** @throws GraphicError */
  #call(font: string, turn: string, size: readonly (string | undefined)[]): string {
    const given = size.map((value) => value?.trim() ?? '');
    const usual = (this.#memory.settings.get('CF') ?? '').split(',').slice(1, 3);
    const [height = '', width = ''] = given.some((value) => value !== '') ? given : usual;
    if (RESIDENT.test(font)) return `^A0${turn},${height},${width}`;
    const stored = this.#memory.object(font);
    if (stored?.kind !== 'font') throw new GraphicError(`the font ${font} was not downloaded`);
    const known = this.#used.get(font);
    const piece: FontPiece = known ?? {
      kind: 'font',
      name: `R:FONT${this.#used.size}.TTF`,
      file: stored.file,
    };
    this.#used.set(font, piece);
    return `^A@${turn},${height},${width},${piece.name}`;
  }
}
