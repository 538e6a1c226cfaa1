/** A tenant's ID, which is also a path segment and the value of `x-tenant`. */
import { z } from 'zod';
import { saying } from './reason.ts';

export const tenantId = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, { error: saying('tenant-characters', {}) });
