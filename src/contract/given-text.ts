/** Text that somebody gives, and that the database keeps as it was given: it takes no NUL, and half of a character is none. */
import { z } from 'zod';
import { saying } from './reason.ts';

export const givenText = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'), { error: saying('text-characters', {}) });
