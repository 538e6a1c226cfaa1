/** Who sends jobs, by name: jobs have the key of an integration, or what a person signs in with. */
import { z } from 'zod';
import { jobSender } from '../../src/contract/admin.ts';
import { useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';

type Senders = {
  names: ReadonlyMap<string, string>;
  /** Whether there are test keys; undefined: not known yet. */
  tests: boolean | undefined;
  /** The name of an account, or what it signs in with. */
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
