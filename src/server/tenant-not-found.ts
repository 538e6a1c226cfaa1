import { ProblemError } from './problems.ts';
import { FOREIGN_KEY_VIOLATION, sqlState } from './store/pool.ts';

export function tenantNotFound(id: string): ProblemError {
  return new ProblemError('tenant-not-found', `there is no tenant "${id}"`);
}

/** Catches the error of a statement that adds what belongs to the tenant. @throws `tenantNotFound`, or the error itself */
export function orTenantNotFound(id: string): (error: unknown) => never {
  return (error) => {
    throw sqlState(error) === FOREIGN_KEY_VIOLATION ? tenantNotFound(id) : error;
  };
}
