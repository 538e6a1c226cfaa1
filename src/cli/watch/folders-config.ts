/** The watched folders of a configuration file. */
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { orientation } from '../../contract/print-request.ts';
import { tenantId } from '../../contract/tenant-id.ts';

/** Each looks through its folder every second. */
const MOST = 100;

const reference = z.string().min(1).max(200);
const path = z.string().refine(isAbsolute, {
  error: ({ input }) => `expected an absolute path instead of ${JSON.stringify(input)}`,
});

const folder = z
  .strictObject({
    directory: path.describe('the folder; "printing", "done" and "failed" are made in it'),
    template: reference.describe('name or ID of a saved template'),
    printer: reference.exactOptional().describe('printer name'),
    printerId: reference.exactOptional().describe('printer ID, or how it begins'),
    format: reference.exactOptional().describe("name or ID; the printer's default without it"),
    orientation: orientation.exactOptional(),
    copies: z.int().min(1).max(10_000_000).exactOptional().describe('of each record; 1 without it'),
    tenant: tenantId.exactOptional().describe('"default" without it'),
    account: path
      .exactOptional()
      .describe('a file with what "platen integration create --json" has printed: whose jobs they are'),
    settle: z.number().positive().max(86_400).default(2).describe('how long a file must not have changed, s'),
    wait: z
      .boolean()
      .default(false)
      .describe('a file is done when its labels are out, not when its job is accepted; the next one waits'),
  })
  .refine(({ printer, printerId }) => printer !== undefined || printerId !== undefined, {
    path: ['printer'],
    error: 'expected "printer" or "printerId"',
  })
  .refine(({ account, tenant }) => account === undefined || tenant === undefined, {
    path: ['tenant'],
    error: 'expected none beside "account", whose tenant counts',
  });
export type FolderEntry = z.output<typeof folder>;

function once(folders: readonly FolderEntry[], context: z.core.$RefinementCtx): void {
  for (const [at, { directory }] of folders.entries()) {
    if (folders.findIndex((one) => resolve(one.directory) === resolve(directory)) === at) continue;
    const message = `expected another folder than ${JSON.stringify(directory)}, which is there already: one folder has one entry`;
    context.addIssue({ code: 'custom', path: [at, 'directory'], message });
  }
}

/** Of a service: without an account, jobs are made with the deployment's own authority. */
export const serviceFolders = z
  .array(folder)
  .max(MOST)
  .superRefine(once)
  .default([])
  .describe('folders that print what is put into them');

/** Of an agent, which has no authority to make jobs. */
export const agentFolders = z
  .array(
    folder.refine(({ account }) => account !== undefined, {
      path: ['account'],
      error:
        'expected a file with what "platen integration create --json" has printed: an agent makes no jobs of its own',
    }),
  )
  .max(MOST)
  .superRefine(once)
  .default([])
  .describe('folders that print what is put into them');
