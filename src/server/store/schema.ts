import type { Schema } from '../../queue/index.ts';

/** What the service keeps, but for the lanes. */
export const PLATEN: Schema = { name: 'platen', directory: new URL('./migrations/', import.meta.url) };
