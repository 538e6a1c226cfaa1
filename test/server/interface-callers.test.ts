/**
 * What the interface document (`shared/interface.md`) refuses of a caller, whatever it sends: one case for each row and
 * rule of it, with the status and the problem code. `rule` says which.
 */
import { afterAll, beforeAll } from 'vitest';
import { InterfaceSite } from '../kit/service/interface-site.ts';
import { type Refusal, testRefusals } from '../kit/service/refusals.ts';

const site = new InterfaceSite();
beforeAll(() => site.start());
afterAll(() => site.stop());

const CALLER_CASES: Refusal[] = [
  {
    rule: 'Authentication 4: a missing token is 401',
    request: () => ({ token: undefined }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'Authentication 4: an invalid token is 401',
    request: () => ({ token: 'not.a.token' }),
    status: 401,
    code: 'token-invalid',
  },
  {
    rule: 'Authentication 4: another scheme than Bearer is 401',
    request: () => ({ token: undefined, headers: { authorization: 'Basic cGtfeDpza195' } }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'the token comes before the tenant',
    request: () => ({ token: undefined, tenant: undefined }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'the token comes before anything about the body',
    request: () => ({ token: undefined, raw: '{' }),
    status: 401,
    code: 'token-missing',
  },
  {
    rule: 'Errors 400: tenant context missing',
    request: () => ({ tenant: undefined }),
    status: 400,
    code: 'tenant-missing',
  },
  {
    rule: 'Errors 400: tenant context malformed',
    request: () => ({ tenant: 'No Such_Tenant!' }),
    status: 400,
    code: 'tenant-invalid',
  },
  {
    rule: 'Errors 403: a tenant that the account does not belong to',
    request: () => ({ tenant: 'globex' }),
    status: 403,
    code: 'tenant-forbidden',
  },
  {
    rule: 'Errors 403: a tenant that does not exist tells nothing more',
    request: () => ({ tenant: 'nobody' }),
    status: 403,
    code: 'tenant-forbidden',
  },
  {
    rule: 'Authentication 3: without jobs:enqueue it is 403',
    request: () => ({ token: site.tokens.reader }),
    status: 403,
    code: 'permission-missing',
  },
  {
    rule: 'the tenant comes before the payload',
    request: () => ({ tenant: undefined, raw: '{' }),
    status: 400,
    code: 'tenant-missing',
  },
  {
    rule: 'the permission comes before the payload',
    request: () => ({ token: site.tokens.reader, raw: '{' }),
    status: 403,
    code: 'permission-missing',
  },
];

const KEY_CASES: Refusal[] = [
  {
    rule: 'Idempotency-Key is required',
    request: () => ({ key: undefined }),
    status: 400,
    code: 'idempotency-key-missing',
  },
  {
    rule: 'Idempotency-Key has no blanks',
    request: () => ({ key: 'two words' }),
    status: 400,
    code: 'idempotency-key-invalid',
  },
  {
    rule: 'Idempotency-Key has at most 255 characters',
    request: () => ({ key: 'k'.repeat(256) }),
    status: 400,
    code: 'idempotency-key-invalid',
  },
  {
    rule: 'the permission comes before the Idempotency-Key',
    request: () => ({ token: site.tokens.reader, key: undefined }),
    status: 403,
    code: 'permission-missing',
  },
];

testRefusals(site, CALLER_CASES, KEY_CASES);
