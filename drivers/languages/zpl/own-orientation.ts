/** What jobs with raw ZPL templates have in common, in whatever language they are sent. */
import { JobFaultError } from '../../../src/contract/fault.ts';
import type { QueuedJob } from '../../../src/contract/queued-job.ts';

/** @throws JobFaultError `language-unsupported` in landscape: a raw template says itself how it lies */
export function requireOwnOrientation(job: QueuedJob): void {
  if (job.orientation !== 'landscape') return;
  throw new JobFaultError(
    'language-unsupported',
    'A raw ZPL template has its own orientation and cannot be printed in landscape',
  );
}
