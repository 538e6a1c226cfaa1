/** A template's name, apart from `template.ts`, which takes long to load. */
import { givenText } from './given-text.ts';

export const templateName = givenText.trim().min(1).max(200);
