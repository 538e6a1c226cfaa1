/** What a template is called: apart from what templates hold, which is long to load. */
import { z } from 'zod';

export const templateName = z.string().trim().min(1).max(200);
