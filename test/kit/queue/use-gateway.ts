/** A gateway for the tests of a file, on a database of its own. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { OpenBackend } from '../servers/backends.ts';
import { overGateway, type TestGateway } from './over-gateway.ts';

export function useGateway(): { readonly gateway: TestGateway; readonly backend: OpenBackend } {
  let backend: OpenBackend | undefined;
  beforeAll(async () => {
    backend = await overGateway().open();
  });
  afterAll(() => backend?.close());
  return {
    get gateway() {
      return backend?.gateway ?? expect.fail('the gateway is not open yet');
    },
    get backend() {
      return backend ?? expect.fail('the gateway is not open yet');
    },
  };
}
