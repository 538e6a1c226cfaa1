/** What the operations in `/openapi.json` share. */
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { Permission } from '../contract/admin.ts';
import { tenantId } from '../contract/tenant-id.ts';
import type { InterfaceCode } from './problem-examples.ts';

/** The security scheme's name. */
export const SCHEME = 'token';
export const JOB_ID = '0198c5c1-6b1e-7c3a-9d54-0a1b2c3d4e5f';
export const REQUEST_EXAMPLE = {
  idT: '0198c5bf-2f53-7d11-8a3b-64a8a2f0c9e1',
  printerId: 'serial-4f1c9a2b7d3e',
  numberCopies: 2,
  data: [{ sscc: '003401234500000000', city: 'Göteborg' }],
};

export const CALLER: readonly InterfaceCode[] = [
  'request-malformed',
  'method-not-allowed',
  'request-late',
  'headers-too-large',
  'token-missing',
  'token-invalid',
  'tenant-missing',
  'tenant-invalid',
  'tenant-forbidden',
  'permission-missing',
  'too-many-requests',
];
export const PERMISSION_MEANS: Record<Permission, string> = {
  'jobs:enqueue': 'Validate and enqueue jobs.',
  'jobs:read': "Read and list jobs' states.",
  'jobs:cancel': 'Cancel jobs.',
  'templates:read': 'List templates with their fields.',
  'printers:read': 'List printers with their formats.',
  'labels:render': 'Draw labels without printing them.',
};

/** What an operation needs of its caller. */
export function needs(permission: Permission): Pick<ZodOpenApiOperationObject, 'security'> {
  return { security: [{ [SCHEME]: [permission] }] };
}

export const tenantHeader = tenantId.meta({
  description: "Tenant ID of the integration's configuration.",
  example: 'default',
});
