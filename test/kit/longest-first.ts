/** Orders the test files, long ones first: one that began last would run alone, other workers idle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take half a minute and more, the longest first. What is not listed comes after them. */
const LONGEST = [
  'agent/row-of-jobs.long',
  'package/debian.long',
  'update/update.long',
  'agent/crash.long',
  'agent/cut-off.long',
  'package/windows.long',
  'agent/document-crash.long',
  'agent/two-agents.long',
  'agent/two-agents-row.long',
  'road/kill.long',
  'road/outage.long',
  'chaos/gateway.long',
  'chaos/embedded.long',
  'chaos/redis.long',
  'queue/redis-fleet.long',
  'queue/outage.long',
  'agent/printing',
  'agent/handed-back.long',
  'web/designer-wrong.long',
  'road/readme.long',
  'queue/printer-queue.backends',
  'agent/cancel.backends',
  'agent/canceled.long',
  'road/console-link.long',
  'web/printers.long',
  'package/versions.long',
  'store/embedded.long',
  'road/operator-commands.long',
  'queue/takeover.long',
  'server/events.long',
  'road/values.long',
  'web/pages.long',
  'road/webhooks.long',
  'road/metrics.long',
  'queue/two-in-hand.long',
  'queue/lease.backends',
  'web/road',
  'web/print-page.long',
  'road/commands.long',
  'road/held-printer.long',
  'render/symbologies.long',
  'languages/foreign-zpl.long',
  // Of the pure ones those of 5 s and more, for the same reason.
  'transports/tcp.pure',
  'render/data-matrix.pure',
  'languages/stored.pure',
  'languages/zpl-text.pure',
  'virtual/ipp-hostile.pure',
  'regular-expressions.pure',
  'languages/label-state.pure',
  'discovery/merge.pure',
  'discovery/found-and-known.pure',
  'hostile-texts.pure',
  'cli/loading.pure',
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
