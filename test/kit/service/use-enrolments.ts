/** Agents that enrol with a service, for the tests of a file: each has a data directory of its own. */
import { afterAll } from 'vitest';
import { type Enrolment, enrollAgent } from '../../../src/cli/enrolment.ts';
import { invitationMade } from '../../../src/contract/agent-view.ts';
import { Directories } from '../agent/site.ts';
import type { ServiceHarness } from './harness.ts';

export interface UsedEnrolments {
  readonly directories: Directories;
  /** Makes an invitation. @returns its address. @param asked else for an agent named Dock, of all tenants */
  invite(asked?: object): Promise<string>;
  /** An agent that has enrolled. @param asked as of `invite` */
  enrolled(asked?: object, dataDir?: string): Promise<Enrolment>;
}

export function useEnrolments(service: Pick<ServiceHarness, 'admin'>): UsedEnrolments {
  const directories = new Directories();
  afterAll(() => directories.remove());
  const invite = async (asked: object = {}) => {
    const answer = await service.admin('POST', '/agents/invitations', { name: 'Dock', ...asked });
    return invitationMade.parse(answer.body).url;
  };
  return {
    directories,
    invite,
    enrolled: async (asked, dataDir = directories.make()) => await enrollAgent(await invite(asked), dataDir),
  };
}
