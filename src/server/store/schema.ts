import type { Schema } from '../../queue/index.ts';

/** The schema of all that the service keeps, except the lanes. */
export const PLATEN: Schema = { name: 'platen', directory: new URL('./migrations/', import.meta.url) };
