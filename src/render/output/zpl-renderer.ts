/** What the ZPL interpreter needs from the renderer: symbols that its rasteriser lacks, and strangers' pictures and fonts. */
import { GraphicError } from '../../zpl/graphic-data.ts';
import type { Renderer } from '../../zpl/interpreter/label-zpl.ts';
import { createImageSet } from '../image/image.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { zplSymbols } from '../symbol/zpl-symbols.ts';
import { FontFault } from '../text/font-fault.ts';
import { readFontFile } from '../text/font-file.ts';

export const zplRenderer: Renderer = {
  ...zplSymbols,
  picture: async (png) => {
    const pictures = createImageSet([]);
    try {
      const picture = await pictures.embedded(Buffer.from(png).toString('base64'));
      if (picture.pixelFile === undefined) throw new GraphicError('a picture of ~DY that is no PNG');
      return pictures.dots(picture, picture.pixelFile, { fit: 'contain', halftone: 'threshold' });
    } catch (error) {
      if (error instanceof PictureFault) throw new GraphicError(`a picture of ~DY: ${error.message}`);
      throw error;
    }
  },
  requireFont: (file) => {
    const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
    // The rasteriser draws only TrueType outlines.
    if (bytes.toString('latin1', 0, 4) === 'OTTO') {
      throw new GraphicError('a downloaded font has CFF outlines, which are not drawn');
    }
    try {
      readFontFile(bytes);
    } catch (error) {
      if (error instanceof FontFault) throw new GraphicError(`a downloaded font: ${error.message}`);
      throw error;
    }
  },
};
