/** Moves all jobs that wait for a printer, and the job in progress, to another printer. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobView } from '../../src/contract/job.ts';
import { MOST_AT_ONCE } from '../../src/contract/job-actions.ts';
import { jobPage } from '../../src/contract/job-search.ts';
import { sayProblem } from '../controls/problem.tsx';
import { call } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { Bulk } from './bulk.tsx';

type MoveAllProps = { printer: { id: string; name: string }; onClose: () => void };

export function MoveAll({ printer, onClose }: MoveAllProps) {
  const found = useSignal<readonly JobView[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      const waits = { printer: printer.id, status: 'queued,printing', limit: String(MOST_AT_ONCE) };
      const { jobs } = await call(jobPage, `/jobs?${new URLSearchParams(waits)}`, { signal: stop.signal });
      if (jobs.length === 0) throw new Error(t.value.jobs.moveAllNone);
      found.value = jobs;
    };
    ask().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      sayProblem(error);
      onClose();
    });
    return () => stop.abort();
  }, []);
  if (found.value.length === 0) return null;
  const ids = found.value.map(({ id }) => id);
  return (
    <Bulk action="move" ids={ids} made={found.value} from={printer} onClose={onClose} onDone={onClose} />
  );
}
