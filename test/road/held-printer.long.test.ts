/** A printer that a person holds: its agent takes no job, also after a restart, until somebody resumes it. */
import { expect, test } from 'vitest';
import { PlatenUp, temporaryDirectory } from '../kit/service/platen.ts';

const LABEL = {
  name: 'Held',
  width: 50,
  height: 25,
  elements: [{ type: 'text', x: 2, y: 2, text: 'once', size: 6 }],
};

test('jobs wait while it is held, over a restart, and are printed once when it is resumed', async () => {
  await using directory = await temporaryDirectory();
  const start = async () => {
    const up = await PlatenUp.start({ dataDir: directory.path });
    await up.printerOnline('virtual-1');
    return up;
  };
  let up = await start();
  try {
    const act = async (action: string) => {
      const [printer] = await up.admin.printers();
      const response = await fetch(`${up.url}/app/printers/${printer?.id}/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${up.adminToken}`, 'content-type': 'application/json' },
        body: '{}',
      });
      expect(response.status).toBe(200);
    };
    await act('hold');
    const { id: idT } = await up.admin.importTemplate('default', LABEL);
    // The agent hears of it with its next lease, within 4 s.
    await expect.poll(() => up.output, { timeout: 15_000 }).toContain('the printer is held');
    const id = await up.admin.print('default', { idT, printer: 'virtual-1' });
    await expect.poll(async () => (await up.admin.job(id)).reasons).toEqual(['printer-held']);
    await up.stop();
    up = await start();
    const second = await up.admin.print('default', { idT, printer: 'virtual-1' });
    await expect
      .poll(async () => (await up.admin.job(second)).reasons, { timeout: 10_000 })
      .toEqual(['printer-held']);
    expect((await up.admin.job(id)).status).toBe('queued');
    expect(await up.pictures()).toEqual([]);
    await act('resume');
    expect((await up.ended(id)).status).toBe('printed');
    expect((await up.ended(second)).status).toBe('printed');
    expect(await up.pictures()).toHaveLength(2);
  } finally {
    await up.stop();
  }
}, 120_000);
