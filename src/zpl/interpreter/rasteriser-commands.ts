/** Which commands the rasteriser gets. Source: ZPL II Programming Guide, the commands named. */
import { words } from '../commands.ts';

/** Commands that the rasteriser does not get. `label-plan.ts` handles them, or they do not change the picture. */
export const NOT_DRAWN = words(
  'PQ PP FX FN FH ID EF DF XF CC CD CT XA XZ HH HV HW HF HG HY HZ JU SP MM MN MT MD MF MP PR PF PH SZ ST',
);
/** The barcodes that the rasteriser draws. It would print the data of others as text. */
export const DRAWN_BARCODES = words('B2 B3 BC BE BO BQ BX');
