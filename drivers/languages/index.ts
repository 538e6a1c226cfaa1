/** The languages a label can be sent in: one line each. */
import type { LanguageId } from '../../src/contract/format.ts';
import type { Language } from './language.ts';
import { pdf } from './pdf.ts';
import { zpl } from './zpl/language.ts';

export const LANGUAGES: Readonly<Record<LanguageId, Language>> = { zpl, pdf };
