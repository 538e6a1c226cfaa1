/** What the Windows service rests on and needs no Windows: identities, rights, commands, and a log that stays small. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LogFile } from '../../src/cli/windows-service/log-file.ts';
import { accessText, READS, serviceSid, WRITES } from '../../src/cli/windows-service/private-directory.ts';
import { imagePath } from '../../src/cli/windows-service/service-registry.ts';
import { windowsPlaces } from '../../src/cli/windows-service/windows-places.ts';

const directory = mkdtempSync(join(tmpdir(), 'platen-log-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('a service has the identity that Windows gives it', () => {
  // As Microsoft documents it, the same on every machine.
  const known = 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464';
  expect(serviceSid('TrustedInstaller')).toBe(known);
  expect(serviceSid('trustedinstaller')).toBe(known);
});

test('nobody but the system, administrators and the service is let in', () => {
  const sid = serviceSid('platen-agent');
  expect(accessText('platen-agent', WRITES, 'directory')).toBe(
    `O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;${sid})`,
  );
  expect(accessText('platen-agent', READS, 'file')).toBe(
    `O:BAD:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;${sid})`,
  );
});

test('the paths of a command are in quotation marks', () => {
  expect(
    imagePath(['C:\\Program Files\\Platen\\bin\\node.exe', 'C:\\a.js', 'service', 'run', 'D:\\é x']),
  ).toBe('"C:\\Program Files\\Platen\\bin\\node.exe" "C:\\a.js" service run "D:\\é x"');
});

test.each(['', 'a"b', 'C:\\', 'a\nb'])('%j can be no word of it', (word) => {
  expect(() => imagePath([word])).toThrow("cannot stand in a service's command");
});

test('all is below one directory', () => {
  const { home, ...below } = windowsPlaces('D:\\Data\\Platen');
  expect(home).toBe('D:\\Data\\Platen');
  for (const place of Object.values(below)) expect(place.startsWith(`${home}\\`)).toBe(true);
});

test('a log turns over, keeps the last files, and goes on in the one of the run before', () => {
  const file = join(directory, 'logs/agent.log');
  const options = { file, size: 100, kept: 2 };
  const first = new LogFile(options);
  const line = (n: number) => `${String(n).padStart(9, '0')}\n`;
  for (let n = 0; n < 25; n++) first.write(line(n));
  new LogFile(options).write(line(25));
  const texts = ['agent.log.2', 'agent.log.1', 'agent.log'].map((name) =>
    readFileSync(join(directory, 'logs', name), 'utf8'),
  );
  expect(texts.join('')).toBe(Array.from({ length: 26 }, (_, n) => line(n)).join(''));
  for (let n = 26; n < 500; n++) first.write(line(n));
  expect(readdirSync(join(directory, 'logs')).sort()).toEqual(['agent.log', 'agent.log.1', 'agent.log.2']);
  for (const name of readdirSync(join(directory, 'logs'))) {
    expect(statSync(join(directory, 'logs', name)).size).toBeLessThanOrEqual(100);
  }
});

test('where the log cannot be written, the program goes on', () => {
  const file = join(directory, 'no-directory');
  writeFileSync(file, '');
  const log = new LogFile({ file: join(file, 'agent.log'), size: 100, kept: 2 });
  expect(() => log.write('lost\n')).not.toThrow();
});
