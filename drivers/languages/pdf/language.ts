/** PDF (ISO 32000-1), for office printers and the queues of print servers. */
import type { Language } from '../language.ts';

export const pdf: Language = {
  id: 'pdf',
  ending: '.pdf',
  mediaTypes: ['application/pdf'],
  commandSets: ['PDF'],
  prints: 'pages',
  madeOf: 'vectors',
  encoder: async () => (await import('./encode.ts')).openPdf,
};
