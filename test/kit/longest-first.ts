/** Orders the test files, long ones first: one that began last would run alone, other workers idle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Those that take half a minute and more, the longest first. What is not listed comes after them: a run ends with the name of
 * each that should be.
 */
export const LONGEST: readonly string[] = [
  'agent/cut-off.long',
  'chaos/gateway.long',
  'agent/crash.long',
  'agent/two-agents-row.long',
  'abuse/abuse.long',
  'package/debian.long',
  'agent/two-agents.long',
  'update/update.long',
  'agent/row-of-jobs.long',
  'package/windows.long',
  'package/image.long',
  'agent/document-crash.long',
  'chaos/embedded.long',
  'queue/outage.long',
  'chaos/redis.long',
  'road/alerts.long',
  'road/outage.long',
  'package/versions.long',
  'queue/redis-fleet.long',
  'road/kill.long',
  'road/traces.long',
  'web/pages.long',
  'agent/printing',
  'agent/cancel.backends',
  'languages/foreign-zpl.long',
  'render/symbologies.long',
  'road/generated-client.long',
  'gateway/networks.long',
  'web/agents.long',
  'web/printers.long',
  'road/full-disk.long',
  'web/bulk-move.long',
  'queue/lease.backends',
  'web/road',
  'server/events.long',
  'render/scripts-read.long',
  'web/stopped-jobs.long',
  'road/operator-commands.long',
  'gateway/another-site.long',
  'agent/handed-back.long',
  'road/ipp.long',
  'web/print-page.long',
  'road/values.long',
  'agent/two-agents-failover.long',
  'web/standing.long',
  'road/extending.long',
  'road/backup.long',
  'store/embedded.long',
  'queue/two-in-hand.long',
  'road/commands.long',
  'agent/half-a-label.long',
  'server/moves.long',
  'queue/takeover.long',
  'web/people.long',
  'server/rolling.long',
  'road/lists.long',
  'web/designer.long',
  'queue/printer-queue.backends',
  'rendering/check-pool.long',
  'agent/document-peers.long',
  'agent/poisoned-lane.long',
  'doctor/doctor.long',
  'gateway/moved.long',
  'languages/every-language.long',
  'package/bundle.long',
  'package/package.long',
  'render/document-pdf.long',
  'road/read-only.long',
  'road/readme.long',
  'road/render-command.long',
  'road/virtual-fault.long',
  'road/watched-folders.long',
  'web/added-printer.long',
  'web/designer-bars.long',
  'web/designer-dots.long',
  'road/agent-commands.long',
  'road/restored-elsewhere.long',
  'road/watch.long',
  'server/labelary.long',
  'server/sessions.long',
  // Of the pure ones those of 5 s and more, for the same reason.
  'transports/tcp.pure',
  'render/data-matrix.pure',
  'languages/stored.pure',
  'languages/zpl-text.pure',
  'virtual/ipp-hostile.pure',
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
