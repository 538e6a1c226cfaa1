/** Prints a test label, which says printer, format and time. */
import { printerTested } from '../../src/contract/printer-actions.ts';
import { to } from '../address/place.ts';
import { sayProblem } from '../controls/problem.tsx';
import { say } from '../controls/toast.tsx';
import { call, newKey } from '../service/call.ts';
import { session } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { actionPath, type Printer } from './printer-words.tsx';

export async function printTest(printer: Printer): Promise<void> {
  const { printers: words, job } = t.value;
  try {
    const body = { tenant: session.value?.tenant.id };
    const { id } = await call(printerTested, actionPath(printer, 'test'), { body, key: newKey() });
    say(
      <>
        {words.tested} <a href={to(['jobs', id])}>{job.open}</a>
      </>,
    );
  } catch (error) {
    sayProblem(error);
  }
}
