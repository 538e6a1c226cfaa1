/**
 * A folder that the service watches is a share of Samba's: a file that `smbclient` writes is printed once it is whole, once,
 * however slowly it comes and however often; what is not written to its end is not printed.
 */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SMB_WRITE, type Smbd, startSmbd } from '../kit/programs/smbd.ts';
import { PlatenUp } from '../kit/service/platen.ts';
import { useDirectory } from '../kit/service/use-directory.ts';

// Samba's server lets nobody write where it does not run as root.
describe.runIf(process.getuid?.() === 0)('a share', () => {
  const directory = useDirectory();
  let folder: string;
  let up: PlatenUp;
  let smbd: Smbd;
  beforeAll(async () => {
    folder = join(directory.path, 'labels');
    await mkdir(folder);
    const config = join(directory.path, 'platen.json');
    const entry = { directory: folder, template: 'Shelf', printer: 'virtual-1', settle: 0.1 };
    await writeFile(config, JSON.stringify({ folders: [entry] }));
    up = await PlatenUp.start({
      dataDir: join(directory.path, 'data'),
      args: ['--config', config, '--virtual', '1', '--virtual-speed', '100'],
    });
    await up.admin.importTemplate('default', {
      name: 'Shelf',
      language: 'zpl',
      source: '^XA^FO20,20^A0N,40,40^FD{{sku}}^FS^XZ',
      fields: [{ name: 'sku' }],
    });
    smbd = await startSmbd(folder);
  });
  afterAll(async () => {
    await smbd?.stop();
    await up?.stop();
  });

  const names = (path: string) => readdir(join(folder, path)).then((all) => all.sort());
  const textOf = (path: string) => readFile(join(folder, `${path}.txt`), 'utf8');
  const sizeOf = (name: string) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const jobs = async () => (await up.admin.jobs()).length;
  async function jobOf(path: string): Promise<string> {
    return /job ([0-9a-f-]{36})/.exec(await textOf(path))?.[1] ?? '';
  }

  /** A row as long as a client sends at a time. */
  const row = (sku: string) => `${sku};${'x'.repeat(SMB_WRITE - sku.length - 4)};M\n`;

  let others = 0;
  /** A file that came whole has been taken since: so has any other that was taken for whole at this moment. */
  async function anotherIsDone(): Promise<void> {
    others += 1;
    const name = `other-${others}.json`;
    await smbd.put(name).end(`{"sku":"other-${others}"}`);
    await expect.poll(() => names('done'), { timeout: 60_000 }).toContain(`${name}.txt`);
  }

  test('what a client writes slowly is printed when it is whole, and not again', async () => {
    const client = smbd.put('slow.csv');
    client.write('sku;note;size\n');
    const rows = ['A', 'B', 'C'];
    for (const [at, sku] of rows.entries()) {
      client.write(row(sku));
      await expect.poll(() => sizeOf('slow.csv'), { timeout: 60_000 }).toBeGreaterThan(at * SMB_WRITE);
      await anotherIsDone();
      expect(await names('.')).toContain('slow.csv');
    }
    await client.end(row('D'));
    await expect.poll(() => names('done'), { timeout: 60_000 }).toContain('slow.csv.txt');
    const { status, labels } = await up.ended(await jobOf('done/slow.csv'));
    expect({ status, printed: labels.printed }).toEqual({ status: 'printed', printed: 4 });

    const before = await jobs();
    await smbd.put('slow.csv').end(await readFile(join(folder, 'done/slow.csv')));
    await expect.poll(() => names('done'), { timeout: 60_000 }).toContain('slow (2).csv.txt');
    expect(await textOf('done/slow (2).csv')).toContain('nothing was printed again');
    expect(await jobs()).toBe(before);
  });

  test.each([
    ['half.json', `[{"sku":"${'J'.repeat(SMB_WRITE)}"},`, /^Not printed\..*JSON/s],
    ['half.csv', `sku;note;size\n${row('A')}B`, /^Not printed\..*it is not whole/s],
  ])('%s of a client that was killed is not printed', async (name, written, why) => {
    const before = await jobs();
    const client = smbd.put(name);
    client.write(written);
    await expect.poll(() => sizeOf(name), { timeout: 60_000 }).toBeGreaterThan(0);
    await client.kill();
    await expect.poll(() => names('failed'), { timeout: 60_000 }).toContain(`${name}.txt`);
    expect(await textOf(`failed/${name}`)).toMatch(why);
    expect(await names('done')).not.toContain(name);
    expect(await jobs()).toBe(before);
  });
});
