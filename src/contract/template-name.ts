/** A template's name, apart from `template.ts`, which takes long to load. */
import { z } from 'zod';

export const templateName = z.string().trim().min(1).max(200);
