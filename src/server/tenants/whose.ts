/** A tenant's tests, or all else of the tenant. */
export type Whose = { tenantId: string; test: boolean };

/** Names them, where the two are counted apart: no tenant's ID has a space. */
export function whoseOf({ tenantId, test }: Whose): string {
  return test ? `${tenantId} test` : tenantId;
}
