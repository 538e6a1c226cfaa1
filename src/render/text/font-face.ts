/** The faces that text is set in: those of Platen's own fonts, and a tenant's. */
import type { Coverage } from './cmap.ts';

export type PackagedFace = 'condensed' | 'sans' | 'sans-bold' | 'sans-italic' | 'sans-bold-italic';

/** A face of a tenant's font. */
export interface TenantFace {
  readonly family: string;
  readonly file: Buffer;
  readonly characters: Coverage;
  /** The face for characters that this one does not have. */
  readonly fallback: PackagedFace;
}

export type Face = PackagedFace | TenantFace;
