import type { SchemaFiles } from '../../queue/index.ts';

/** The schema of all that the service keeps, except the lanes. */
export const PLATEN: SchemaFiles = { name: 'platen', directory: new URL('./migrations/', import.meta.url) };
