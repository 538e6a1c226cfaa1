/** The order of the test files: a long one that began last would be waited for alone, with all other workers idle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take a minute and more, the longest first. What is not listed comes after them. */
const LONGEST = [
  'package/debian',
  'update/update',
  'road/outage',
  'agent/document-crash',
  'agent/crash',
  'package/windows',
  'road/kill',
  'road/values',
  'agent/cut-off',
  'agent/two-agents',
  'render/symbologies',
  'languages/foreign-zpl',
  'package/versions',
  'store/embedded',
  'road/commands',
  'queue/outage',
  'web/pages',
  'agent/printing',
  'chaos/embedded',
  'queue/takeover',
  'queue/redis-fleet',
  'web/road',
  'road/operator-commands',
  'chaos/redis',
  'doctor/doctor',
  'web/printers',
].map((name) => join(import.meta.dirname, '..', `${name}.test.ts`));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = LONGEST.filter((file) => !existsSync(file));
    if (gone.length > 0) throw new Error(`longest-first.ts lists what is no test: ${gone.join(', ')}`);
    const place = ({ moduleId, project }: TestSpecification) => {
      const listed = LONGEST.indexOf(moduleId);
      const { groupOrder } = project.config.sequence;
      return groupOrder * (LONGEST.length + 1) + (listed < 0 ? LONGEST.length : listed);
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
