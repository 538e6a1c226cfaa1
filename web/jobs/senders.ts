/** The names of those who send jobs. A job itself has only the key of an integration, or the login of a person. */
import { z } from 'zod';
import { jobSender } from '../../src/contract/admin.ts';
import { useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';

type Senders = {
  names: ReadonlyMap<string, string>;
  /** Whether the tenant has test keys; undefined: not known yet. */
  tests: boolean | undefined;
  /** The name of an account, or the account itself if it has no name. */
  nameOf: (account: string) => string;
};

export function useSenders(): Senders {
  const { data } = useLive(
    z.array(jobSender),
    ofTenant('/senders'),
    ({ tenants }) => tenants.length > 0,
  ).live;
  const names = new Map(data?.map(({ apiKey, name }) => [apiKey, name]));
  return {
    names,
    tests: data?.some(({ test }) => test),
    nameOf: (account) => names.get(account) ?? account,
  };
}
